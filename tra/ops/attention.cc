// Makes differentiable operators of the kernels.
#include "tra/ops/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
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

// Returns the rule's input with adjacent channels; only an input with four dimensions has channels.
at::Tensor WithInputChannels(const at::Tensor& rule_input) {
  return rule_input.defined() && rule_input.dim() == 4 ? WithAdjacentChannels(rule_input) : rule_input;
}

// Views a rule's input: [B,H,T], [B,H,T,channels], or [H,distances] for all of the batch.
template <typename T>
Rows<T> InputView(const at::Tensor& x) {
  if (x.dim() == 2) return {x.data_ptr<float>(), 0, x.stride(0), x.stride(1)};
  return {x.data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

ForwardArgs<float> MakeArguments(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const at::Tensor& rule_input, const at::Tensor& out, const AttentionOptions& options) {
  ForwardArgs<float> args;
  args.shape = ShapeOf(q, k, v, rule_input, options.rule);
  args.q = View(q);
  args.k = View(k);
  args.v = View(v);
  if (TakesInput(options.rule)) args.rule_input = InputView<const float>(rule_input);
  args.out = MutableView(out);
  return args;
}

// Returns options that draw as `draws` says, which must outlive them.
AttentionOptions WithDraws(AttentionOptions options, const Draws& draws, const at::Tensor& q) {
  options.seed = draws.seed;
  options.sequence_ids = SequenceIds("attention", draws, q.size(0));
  return options;
}

struct Saved {
  at::Tensor out, log2_sum, first_key;
};

// Holds what the backward needs besides tensors, as a whole so that no option can be forgotten.
struct SavedOptions : torch::CustomClassHolder {
  SavedOptions(const AttentionOptions& options_in, const Draws& draws_in, const at::Tensor& q)
      : draws(draws_in.seed, draws_in.sequence_ids.defined() ? draws_in.sequence_ids.clone() : at::Tensor()),
        options(WithDraws(options_in, draws, q)) {}

  Draws draws;  // its ids are a copy, because a caller may reuse the tensor
  AttentionOptions options;
};

Saved RunForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                 const AttentionOptions& options, bool for_backward) {
  Saved saved;
  saved.out = EmptyLike(q, q.size(2), v.size(3));
  ForwardArgs<float> args = MakeArguments(q, k, v, rule_input, saved.out, options);
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
                          const Variable& input_in, const AttentionOptions& options, const Draws& draws) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor q = WithAdjacentChannels(q_in), k = WithAdjacentChannels(k_in), v = WithAdjacentChannels(v_in);
    const at::Tensor rule_input = WithInputChannels(input_in);
    const Saved saved = RunForward(q, k, v, rule_input, options, true);
    context->save_for_backward({q, k, v, rule_input, saved.out, saved.log2_sum, saved.first_key});
    context->saved_data["options"] = c10::IValue::make_capsule(c10::make_intrusive<SavedOptions>(options, draws, q));
    return saved.out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    TORCH_CHECK(!c10::GradMode::is_enabled(),
                "attention: the tiled kernel has no second derivative; use attention_composed with create_graph");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &rule_input = saved[3];
    const auto held = context->saved_data["options"].toCapsule();
    const AttentionOptions& options = static_cast<const SavedOptions&>(*held).options;

    const at::Tensor d_out = WithAdjacentChannels(grads[0]);
    const at::Tensor d_q = EmptyLike(q, q.size(2), q.size(3));
    const at::Tensor d_k = EmptyLike(k, k.size(2), k.size(3));
    const at::Tensor d_v = EmptyLike(v, v.size(2), v.size(3));
    BackwardArgs<float> args;
    args.shape = ShapeOf(q, k, v, rule_input, options.rule);
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
    at::Tensor d_input;
    if (TakesInput(options.rule)) {
      d_input = at::empty(rule_input.sizes(), rule_input.options());
      args.rule_input = InputView<const float>(rule_input);
      args.d_rule_input = InputView<float>(d_input);
    }
    AtenParallel parallel;
    AttentionBackward(args, options, parallel);
    return {d_q, d_k, d_v, d_input, Variable(), Variable()};
  }
};

}  // namespace

at::Tensor Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                     const AttentionOptions& options_in, const at::Tensor& sequence_ids) {
  if (!OnKernels(q)) return AttentionComposed(q, k, v, rule_input, options_in, sequence_ids);
  CheckAttention("attention", q, k, v, rule_input, options_in);
  const Draws draws(options_in.seed, sequence_ids);
  const AttentionOptions options = WithDraws(options_in, draws, q);
  const bool needs_grad = c10::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                                          (rule_input.defined() && rule_input.requires_grad()));
  if (needs_grad) {
    // LibTorch 1.13 cannot record an undefined input.
    return AttentionFunction::apply(q, k, v, rule_input.defined() ? rule_input : at::empty({0}, q.options()), options,
                                    draws);
  }
  return RunForward(WithAdjacentChannels(q), WithAdjacentChannels(k), WithAdjacentChannels(v),
                    WithInputChannels(rule_input), options, false)
      .out;
}

at::Tensor AttentionDecodeStep(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& rule_input, const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  if (!OnKernels(q)) return AttentionComposed(q, k, v, rule_input, options);
  CheckAttention("attention_decode", q, k, v, rule_input, options);
  const at::Tensor q_rows = WithAdjacentChannels(q), k_rows = WithAdjacentChannels(k), v_rows = WithAdjacentChannels(v);
  at::Tensor out = EmptyLike(q_rows, q.size(2), v.size(3));
  AtenParallel parallel;
  AttentionDecode(MakeArguments(q_rows, k_rows, v_rows, WithInputChannels(rule_input), out, options), options,
                  parallel);
  return out;
}

}  // namespace tra
