// The kernels as differentiable operators.
#include "tra/ops/attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/ops/aten_parallel.h"
#include "tra/ops/checks.h"
#include "tra/ops/layout.h"
#include "tra/ops/saved_draws.h"

namespace tra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// z of kContextual has channels.
at::Tensor OwnRows(const at::Tensor& own, const AttentionOptions& options) {
  return options.rule == ScoreRule::kContextual ? WithAdjacentChannels(own) : own;
}

// A rule's own input: [B,H,T], [B,H,T,channels], or [H,distances] for all of the batch.
template <typename T>
Rows<T> OwnView(const at::Tensor& x) {
  if (x.dim() == 2) return {x.data_ptr<float>(), 0, x.stride(0), x.stride(1)};
  return {x.data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

ForwardArgs<float> Arguments(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& own,
                             const at::Tensor& out, const AttentionOptions& options) {
  ForwardArgs<float> args;
  args.shape = ShapeOf(q, k, v, own, options.rule);
  args.q = View(q);
  args.k = View(k);
  args.v = View(v);
  if (options.rule != ScoreRule::kSoftmax) args.own = OwnView<const float>(own);
  args.out = MutableView(out);
  return args;
}

// The numbers must outlive the options.
AttentionOptions Drawing(AttentionOptions options, const Draws& draws, const at::Tensor& q) {
  options.seed = draws.seed;
  options.numbers = SequenceNumbers("attention", draws, q.size(0));
  return options;
}

struct Saved {
  at::Tensor out, log2_sum, first_key;
};

Saved RunForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& own,
                 const AttentionOptions& options, bool for_backward) {
  Saved saved;
  saved.out = EmptyLike(q, q.size(2), v.size(3));
  ForwardArgs<float> args = Arguments(q, k, v, own, saved.out, options);
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
                          const Variable& own_in, const AttentionOptions& options, const Draws& draws) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor q = WithAdjacentChannels(q_in), k = WithAdjacentChannels(k_in), v = WithAdjacentChannels(v_in);
    const at::Tensor own = OwnRows(own_in, options);
    const Saved saved = RunForward(q, k, v, own, options, true);
    context->save_for_backward({q, k, v, own, saved.out, saved.log2_sum, saved.first_key});
    auto& data = context->saved_data;
    data["rule"] = static_cast<int64_t>(options.rule);
    data["qk_norm"] = options.qk_norm;
    data["norm_eps"] = static_cast<double>(options.norm_eps);
    data["dropout_on"] = static_cast<int64_t>(options.dropout_on);
    data["dropout_p"] = static_cast<double>(options.dropout_p);
    SaveDraws(*context, draws);
    data["stop_eps"] = static_cast<double>(options.stop_eps);
    return saved.out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "attention: the tiled kernel has no second derivative; use attention_composed with create_graph");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &own = saved[3];
    auto& data = context->saved_data;
    const Draws draws = SavedDraws(*context);
    AttentionOptions options = Drawing({}, draws, q);
    options.rule = static_cast<ScoreRule>(data["rule"].toInt());
    options.qk_norm = data["qk_norm"].toBool();
    options.norm_eps = static_cast<float>(data["norm_eps"].toDouble());
    options.dropout_on = static_cast<DropoutOn>(data["dropout_on"].toInt());
    options.dropout_p = static_cast<float>(data["dropout_p"].toDouble());
    options.stop_eps = static_cast<float>(data["stop_eps"].toDouble());

    const at::Tensor d_out = WithAdjacentChannels(grads[0]);
    const at::Tensor d_q = EmptyLike(q, q.size(2), q.size(3));
    const at::Tensor d_k = EmptyLike(k, k.size(2), k.size(3));
    const at::Tensor d_v = EmptyLike(v, v.size(2), v.size(3));
    BackwardArgs<float> args;
    args.shape = ShapeOf(q, k, v, own, options.rule);
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
    at::Tensor d_own;
    if (options.rule != ScoreRule::kSoftmax) {
      d_own = at::empty(own.sizes(), own.options());
      args.own = OwnView<const float>(own);
      args.d_own = OwnView<float>(d_own);
    }
    AtenParallel parallel;
    AttentionBackward(args, options, parallel);
    return {d_q, d_k, d_v, d_own, Variable(), Variable()};
  }
};

}  // namespace

at::Tensor Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& own,
                     const AttentionOptions& options_in, const at::Tensor& numbers) {
  if (!OnKernels(q)) return AttentionComposed(q, k, v, own, options_in, numbers);
  CheckAttention("attention", q, k, v, own, options_in);
  const Draws draws(options_in.seed, numbers);
  const AttentionOptions options = Drawing(options_in, draws, q);
  const bool needs_grad = c10::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                                          (own.defined() && own.requires_grad()));
  if (needs_grad) {
    // LibTorch 1.13 cannot record an undefined input.
    return AttentionFunction::apply(q, k, v, own.defined() ? own : at::empty({0}, q.options()), options, draws);
  }
  return RunForward(WithAdjacentChannels(q), WithAdjacentChannels(k), WithAdjacentChannels(v), OwnRows(own, options),
                    options, false)
      .out;
}

at::Tensor AttentionDecodeStep(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& own,
                               const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  if (!OnKernels(q)) return AttentionComposed(q, k, v, own, options);
  CheckAttention("attention_decode", q, k, v, own, options);
  const at::Tensor q_rows = WithAdjacentChannels(q), k_rows = WithAdjacentChannels(k), v_rows = WithAdjacentChannels(v);
  at::Tensor out = EmptyLike(q_rows, q.size(2), v.size(3));
  AtenParallel parallel;
  AttentionDecode(Arguments(q_rows, k_rows, v_rows, OwnRows(own, options), out, options), options, parallel);
  return out;
}

}  // namespace tra
