// Makes differentiable operators of the kernels.
#include "tra/ops/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "tra/ops/aten_parallel.h"
#include "tra/ops/attention_rows.h"
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
  if (!rule_input.defined()) return rule_input;
  return rule_input.dim() == 4 ? WithAdjacentChannels(rule_input) : rule_input.resolve_neg();
}

// Views a rule's input: [B,H,T], [B,H,T,channels], or [H,distances] for all of the batch.
template <typename T>
Rows<T> InputView(const at::Tensor& x) {
  if (x.dim() == 2) return {x.data_ptr<float>(), 0, x.stride(0), x.stride(1)};
  return {x.data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

// Sets the shape and views the inputs, in the arguments of a forward or a backward.
template <class Args>
void SetInputs(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
               const AttentionOptions& options, Args& args) {
  args.shape = ShapeOf(q, k, v, rule_input, options.rule);
  args.q = View(q);
  args.k = View(k);
  args.v = View(v);
  if (TakesInput(options.rule)) args.rule_input = InputView<const float>(rule_input);
}

// Makes the sequences at these offsets, if they are defined, of the one batch entry of `shape`, and of the rows.
template <class... Views>
void CutIntoSequences(const at::Tensor& cu_seqlens, AttentionShape& shape, Views&... rows) {
  if (!cu_seqlens.defined()) return;
  const int32_t* offsets = cu_seqlens.data_ptr<int32_t>();
  shape.offsets = offsets;
  shape.batch = static_cast<size_t>(cu_seqlens.size(0) - 1);
  int32_t longest = 0;
  for (size_t b = 0; b < shape.batch; ++b) longest = std::max(longest, offsets[b + 1] - offsets[b]);
  shape.queries = shape.keys = static_cast<size_t>(longest);
  ((rows.offsets = offsets), ...);
}

// Does the same for the rule's input, unless that is a table of all sequences.
template <typename T>
void CutInput(const at::Tensor& cu_seqlens, ScoreRule rule, Rows<T>& rows) {
  if (cu_seqlens.defined() && InputIsByToken(rule)) rows.offsets = cu_seqlens.data_ptr<int32_t>();
}

// Returns options that draw as `draws` says, which must outlive them.
AttentionOptions WithDraws(AttentionOptions options, const Draws& draws, const at::Tensor& q) {
  options.seed = draws.seed;
  options.sequence_ids =
      SequenceIds("attention", draws, draws.cu_seqlens.defined() ? draws.cu_seqlens.size(0) - 1 : q.size(0));
  return options;
}

struct Saved {
  at::Tensor out, log2_sum, first_key;
};

// Holds what the backward needs besides tensors, as a whole so that no option can be forgotten.
struct SavedOptions : torch::CustomClassHolder {
  SavedOptions(const AttentionOptions& options_in, const Draws& draws_in, const at::Tensor& q)
      : draws(draws_in.seed, Copy(draws_in.sequence_ids), Copy(draws_in.cu_seqlens)),
        options(WithDraws(options_in, draws, q)) {}

  static at::Tensor Copy(const at::Tensor& x) { return x.defined() ? x.clone() : x; }

  Draws draws;  // its ids and offsets are copies, because a caller may reuse the tensors
  AttentionOptions options;
};

Saved RunForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                 const AttentionOptions& options, const at::Tensor& cu_seqlens, bool for_backward) {
  Saved saved;
  saved.out = EmptyLike(q, q.size(2), v.size(3));
  ForwardArgs<float> args;
  SetInputs(q, k, v, rule_input, options, args);
  args.out = MutableView(saved.out);
  CutIntoSequences(cu_seqlens, args.shape, args.q, args.k, args.v, args.out);
  CutInput(cu_seqlens, options.rule, args.rule_input);
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
    const Saved saved = RunForward(q, k, v, rule_input, options, draws.cu_seqlens, true);
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
    const auto& held_options = static_cast<const SavedOptions&>(*held);
    const AttentionOptions& options = held_options.options;
    const at::Tensor& cu_seqlens = held_options.draws.cu_seqlens;

    const at::Tensor d_out = WithAdjacentChannels(grads[0]);
    const at::Tensor d_q = EmptyLike(q, q.size(2), q.size(3));
    const at::Tensor d_k = EmptyLike(k, k.size(2), k.size(3));
    const at::Tensor d_v = EmptyLike(v, v.size(2), v.size(3));
    BackwardArgs<float> args;
    SetInputs(q, k, v, rule_input, options, args);
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
      args.d_rule_input = InputView<float>(d_input);
    }
    CutIntoSequences(cu_seqlens, args.shape, args.q, args.k, args.v, args.out, args.d_out, args.d_q, args.d_k,
                     args.d_v);
    CutInput(cu_seqlens, options.rule, args.rule_input);
    CutInput(cu_seqlens, options.rule, args.d_rule_input);
    AtenParallel parallel;
    AttentionBackward(args, options, parallel);
    return {d_q, d_k, d_v, d_input, Variable(), Variable()};
  }
};

}  // namespace

at::Tensor Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                     const AttentionOptions& options_in, const at::Tensor& sequence_ids, const at::Tensor& cu_seqlens) {
  if (!OnKernels(q)) return AttentionComposed(q, k, v, rule_input, options_in, sequence_ids, cu_seqlens);
  CheckAttention("attention", q, k, v, rule_input, options_in, cu_seqlens);
  const Draws draws(options_in.seed, sequence_ids, cu_seqlens);
  const AttentionOptions options = WithDraws(options_in, draws, q);
  const bool needs_grad = c10::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                                          (rule_input.defined() && rule_input.requires_grad()));
  if (needs_grad) {
    // LibTorch 1.13 cannot record an undefined input.
    return AttentionFunction::apply(q, k, v, rule_input.defined() ? rule_input : at::empty({0}, q.options()), options,
                                    draws);
  }
  return RunForward(WithAdjacentChannels(q), WithAdjacentChannels(k), WithAdjacentChannels(v),
                    WithInputChannels(rule_input), options, cu_seqlens, false)
      .out;
}

at::Tensor AttentionVarlen(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                           const at::Tensor& cu_seqlens, const AttentionOptions& options,
                           const at::Tensor& sequence_ids) {
  TORCH_CHECK_VALUE(q.dim() == 3 && k.dim() == 3 && v.dim() == 3,
                    "attention_varlen: q, k and v must be [token, head, channel]; got q ", q.sizes(), ", k ", k.sizes(),
                    ", v ", v.sizes());
  // [token, head, ...] -> [1, head, token, ...]
  const auto as_batch = [](const at::Tensor& x) { return x.transpose(0, 1).unsqueeze(0); };
  const bool by_token = InputIsByToken(options.rule) && rule_input.defined() && rule_input.dim() >= 2;
  return Attention(as_batch(q), as_batch(k), as_batch(v), by_token ? as_batch(rule_input) : rule_input, options,
                   sequence_ids, cu_seqlens)
      .squeeze(0)
      .transpose(0, 1);
}

at::Tensor AttentionDecodeStep(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& rule_input, const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  if (!OnKernels(q)) return AttentionComposed(q, k, v, rule_input, options);
  CheckAttention("attention_decode", q, k, v, rule_input, options);
  const at::Tensor q_rows = WithAdjacentChannels(q), k_rows = WithAdjacentChannels(k), v_rows = WithAdjacentChannels(v);
  at::Tensor out = EmptyLike(q_rows, q.size(2), v.size(3));
  ForwardArgs<float> args;
  const at::Tensor input_rows = WithInputChannels(rule_input);
  SetInputs(q_rows, k_rows, v_rows, input_rows, options, args);
  args.out = MutableView(out);
  AtenParallel parallel;
  AttentionDecode(args, options, parallel);
  return out;
}

AttentionMatrix AttentionRows(const at::Tensor& q_in, const at::Tensor& k_in, const at::Tensor& rule_input_in,
                              const AttentionOptions& options, const MatrixPart& part) {
  const c10::NoGradGuard no_grad;
  TORCH_CHECK_VALUE(OnKernels(q_in), "attention_rows: computes fp32 on the CPU, got ", q_in.scalar_type(), " on ",
                    q_in.device(), "; pass .float().cpu() of every tensor");
  CheckAttention("attention_rows", q_in, k_in, k_in, rule_input_in, options);
  const at::Tensor q = WithAdjacentChannels(q_in), k = WithAdjacentChannels(k_in);
  const at::Tensor rule_input = WithInputChannels(rule_input_in);
  ForwardArgs<float> inputs;
  SetInputs(q, k, k, rule_input, options, inputs);
  const int64_t last_query = part.last_query < 0 ? q.size(2) : part.last_query;
  const int64_t last_key = part.last_key < 0 ? k.size(2) : part.last_key;
  TORCH_CHECK_VALUE(0 <= part.first_query && part.first_query <= last_query && last_query <= q.size(2),
                    "attention_rows: queries ", part.first_query, " to ", last_query, " were asked for, there are ",
                    q.size(2));
  TORCH_CHECK_VALUE(0 <= part.first_key && part.first_key <= last_key && last_key <= k.size(2), "attention_rows: keys ",
                    part.first_key, " to ", last_key, " were asked for, there are ", k.size(2));
  AttentionRowsArgs<float> args;
  args.shape = inputs.shape;
  args.q = inputs.q;
  args.k = inputs.k;
  args.rule_input = inputs.rule_input;
  args.first_query = static_cast<size_t>(part.first_query);
  args.queries = static_cast<size_t>(last_query - part.first_query);
  args.first_key = static_cast<size_t>(part.first_key);
  args.keys = static_cast<size_t>(last_key - part.first_key);

  const std::vector<int64_t> rows = {q.size(0), q.size(1), last_query - part.first_query};
  std::vector<int64_t> cells = rows;
  cells.push_back(last_key - part.first_key);
  AttentionMatrix matrix;
  const auto floats = [&](const std::vector<int64_t>& sizes, at::Tensor& tensor) {
    tensor = at::empty(sizes, q.options());
    return tensor.data_ptr<float>();
  };
  matrix.state = at::empty(cells, q.options().dtype(at::kByte));
  matrix.stopped_at = at::empty(rows, q.options().dtype(at::kInt));
  args.state = matrix.state.data_ptr<uint8_t>();
  args.stopped_at = matrix.stopped_at.data_ptr<int32_t>();
  args.score = floats(cells, matrix.score);
  args.position = floats(cells, matrix.position);
  args.term = floats(cells, matrix.term);
  args.logit = floats(cells, matrix.logit);
  args.weight = floats(cells, matrix.weight);
  args.unseen = floats(rows, matrix.unseen);
  AtenParallel parallel;
  AttentionRows(args, options, parallel);
  return matrix;
}

}  // namespace tra
