// The kernels as differentiable operators.
#include "tra/ops/attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/ops/aten_parallel.h"
#include "tra/ops/checks.h"
#include "tra/ops/layout.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

ForwardArgs<float> Arguments(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                             const at::Tensor& out, const AttentionOptions& options) {
  ForwardArgs<float> args;
  args.shape = ShapeOf(q, k, v);
  args.q = View(q);
  args.k = View(k);
  args.v = View(v);
  if (options.rule == ScoreRule::kThreshold) args.log_gate = View(log_gate);
  args.out = MutableView(out);
  return args;
}

struct Saved {
  at::Tensor out, log2_sum, first_key;
};

Saved RunForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                 const AttentionOptions& options, bool for_backward) {
  Saved saved;
  saved.out = EmptyLike(q, q.size(2), v.size(3));
  ForwardArgs<float> args = Arguments(q, k, v, log_gate, saved.out, options);
  if (for_backward) {
    saved.log2_sum = at::empty({q.size(0), q.size(1), q.size(2)}, q.options());
    saved.first_key = at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kInt));
    args.log2_sum = saved.log2_sum.data_ptr<float>();
    args.first_key = saved.first_key.data_ptr<int32_t>();
  }
  AtenParallel parallel;
  AttentionForward(args, options, parallel);
  return saved;
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& q_in, const Variable& k_in, const Variable& v_in,
                          const Variable& log_gate, const AttentionOptions& options) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor q = WithAdjacentChannels(q_in), k = WithAdjacentChannels(k_in), v = WithAdjacentChannels(v_in);
    const Saved saved = RunForward(q, k, v, log_gate, options, true);
    context->save_for_backward({q, k, v, log_gate, saved.out, saved.log2_sum, saved.first_key});
    auto& data = context->saved_data;
    data["rule"] = static_cast<int64_t>(options.rule);
    data["qk_norm"] = options.qk_norm;
    data["norm_eps"] = static_cast<double>(options.norm_eps);
    data["dropout_on"] = static_cast<int64_t>(options.dropout_on);
    data["dropout_p"] = static_cast<double>(options.dropout_p);
    data["seed"] = static_cast<int64_t>(options.seed);
    data["stop_eps"] = static_cast<double>(options.stop_eps);
    return saved.out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "attention: the tiled kernel has no second derivative; use attention_composed with create_graph");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &log_gate = saved[3];
    auto& data = context->saved_data;
    AttentionOptions options;
    options.rule = static_cast<ScoreRule>(data["rule"].toInt());
    options.qk_norm = data["qk_norm"].toBool();
    options.norm_eps = static_cast<float>(data["norm_eps"].toDouble());
    options.dropout_on = static_cast<DropoutOn>(data["dropout_on"].toInt());
    options.dropout_p = static_cast<float>(data["dropout_p"].toDouble());
    options.seed = static_cast<uint64_t>(data["seed"].toInt());
    options.stop_eps = static_cast<float>(data["stop_eps"].toDouble());

    const at::Tensor d_out = WithAdjacentChannels(grads[0]);
    const at::Tensor d_q = EmptyLike(q, q.size(2), q.size(3));
    const at::Tensor d_k = EmptyLike(k, k.size(2), k.size(3));
    const at::Tensor d_v = EmptyLike(v, v.size(2), v.size(3));
    BackwardArgs<float> args;
    args.shape = ShapeOf(q, k, v);
    args.q = View(q);
    args.k = View(k);
    args.v = View(v);
    args.out = View(saved[4]);
    args.d_out = View(d_out);
    args.log2_sum = saved[5].data_ptr<float>();
    args.first_key = saved[6].data_ptr<int32_t>();
    args.d_q = MutableView(d_q);
    args.d_k = MutableView(d_k);
    args.d_v = MutableView(d_v);
    at::Tensor d_log_gate;
    if (options.rule == ScoreRule::kThreshold) {
      d_log_gate = at::empty(log_gate.sizes(), log_gate.options());
      args.log_gate = View(log_gate);
      args.d_log_gate = MutableView(d_log_gate);
    }
    AtenParallel parallel;
    AttentionBackward(args, options, parallel);
    return {d_q, d_k, d_v, d_log_gate, Variable()};
  }
};

}  // namespace

at::Tensor Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                     const AttentionOptions& options) {
  if (!OnKernels(q)) return AttentionComposed(q, k, v, log_gate, options);
  CheckAttention("attention", q, k, v, log_gate, options);
  const bool needs_grad = c10::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                                          (log_gate.defined() && log_gate.requires_grad()));
  if (needs_grad) {
    // LibTorch 1.13 cannot record an undefined input.
    return AttentionFunction::apply(q, k, v, log_gate.defined() ? log_gate : at::empty({0}, q.options()), options);
  }
  return RunForward(WithAdjacentChannels(q), WithAdjacentChannels(k), WithAdjacentChannels(v), log_gate, options, false)
      .out;
}

at::Tensor AttentionDecodeStep(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& log_gate, const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  if (!OnKernels(q)) return AttentionComposed(q, k, v, log_gate, options);
  CheckAttention("attention_decode", q, k, v, log_gate, options);
  const at::Tensor q_rows = WithAdjacentChannels(q), k_rows = WithAdjacentChannels(k), v_rows = WithAdjacentChannels(v);
  at::Tensor out = EmptyLike(q_rows, q.size(2), v.size(3));
  AtenParallel parallel;
  AttentionDecode(Arguments(q_rows, k_rows, v_rows, log_gate, out, options), options, parallel);
  return out;
}

}  // namespace tra
