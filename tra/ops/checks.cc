#include "tra/ops/checks.h"

#include <ATen/ATen.h>

#include "tra/kernels/attention/rules.h"

namespace tra {

bool TakesInput(ScoreRule rule) { return InfoOf(rule).rows != InputRows::kNone; }

bool InputIsByToken(ScoreRule rule) { return TakesInput(rule) && InfoOf(rule).rows != InputRows::kDistances; }

AttentionShape ShapeOf(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                       ScoreRule rule) {
  const auto size = [](const at::Tensor& t, int64_t dim) { return static_cast<size_t>(t.size(dim)); };
  AttentionShape shape;
  shape.batch = size(q, 0);
  shape.heads = size(q, 1);
  shape.queries = size(q, 2);
  shape.keys = size(k, 2);
  shape.width = size(q, 3);
  shape.value_width = size(v, 3);
  shape.table = InfoOf(rule).max_table > 0 ? size(rule_input, -1) : 0;
  return shape;
}

namespace {

// Returns whether any element of x, [B,H,T], is above 0. A plain loop for fp32: in a decode step a chain of tensor
// operations would cost as much as the step.
bool AnyPositive(const at::Tensor& x) {
  if (x.scalar_type() != at::kFloat || x.is_neg()) return x.numel() > 0 && x.gt(0).any().item<bool>();
  const float* data = x.data_ptr<float>();
  for (int64_t b = 0; b < x.size(0); ++b) {
    for (int64_t h = 0; h < x.size(1); ++h) {
      const float* at = data + b * x.stride(0) + h * x.stride(1);
      for (int64_t t = 0; t < x.size(2); ++t) {
        if (at[t * x.stride(2)] > 0.0f) return true;
      }
    }
  }
  return false;
}

// Returns whether the rule's input has the sizes that RuleInfo::input_layout names.
bool InputFits(const RuleInfo& rule, const at::Tensor& input, const at::Tensor& q, const at::Tensor& k) {
  switch (rule.rows) {
    case InputRows::kNone:
      return true;
    case InputRows::kDistances:
      return input.dim() == 2 && input.size(0) == q.size(1);
    case InputRows::kQueries:
    case InputRows::kKeys:
      return input.dim() == (rule.max_table > 0 ? 4 : 3) && input.size(0) == q.size(0) && input.size(1) == q.size(1) &&
             input.size(2) == (rule.rows == InputRows::kKeys ? k : q).size(2);
  }
  return false;
}

}  // namespace

void CheckOffsets(const char* name, const at::Tensor& cu_seqlens, int64_t tokens) {
  TORCH_CHECK_VALUE(cu_seqlens.scalar_type() == at::kInt && cu_seqlens.dim() == 1 && cu_seqlens.size(0) >= 1 &&
                        cu_seqlens.device().is_cpu() && cu_seqlens.is_contiguous(),
                    name, ": cu_seqlens must be contiguous int32 [sequences + 1] on the CPU, got ",
                    cu_seqlens.scalar_type(), " ", cu_seqlens.sizes(), " on ", cu_seqlens.device(), " with strides ",
                    cu_seqlens.strides());
  const int32_t* offsets = cu_seqlens.data_ptr<int32_t>();
  const int64_t last = cu_seqlens.size(0) - 1;
  TORCH_CHECK_VALUE(offsets[0] == 0, name, ": cu_seqlens must start with 0, got ", offsets[0]);
  for (int64_t i = 1; i <= last; ++i) {
    TORCH_CHECK_VALUE(offsets[i] >= offsets[i - 1], name, ": cu_seqlens must not decrease, but has ", offsets[i - 1],
                      " at ", i - 1, " and ", offsets[i], " at ", i);
  }
  TORCH_CHECK_VALUE(offsets[last] == tokens, name, ": cu_seqlens must end with the number of tokens, ", tokens,
                    ", got ", offsets[last]);
}

void CheckAttention(const char* name, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const at::Tensor& rule_input, const AttentionOptions& options, const at::Tensor& cu_seqlens) {
  TORCH_CHECK_VALUE(options.sequence_ids == nullptr, name,
                    ": options.sequence_ids is for the kernels; pass the sequences' ids as a tensor");
  const RuleInfo& rule = InfoOf(options.rule);
  const bool has_input = TakesInput(options.rule);
  TORCH_CHECK_VALUE(q.defined() && k.defined() && v.defined() && (!has_input || rule_input.defined()), name,
                    ": q, k, v", has_input ? ", " : "", rule.input, " must be tensors");
  const auto shapes = [&] {
    return c10::str("; got q ", q.sizes(), ", k ", k.sizes(), ", v ", v.sizes(),
                    has_input ? c10::str(", ", rule.input, " ", rule_input.sizes()) : std::string());
  };
  TORCH_CHECK_VALUE(q.dim() == 4 && k.dim() == 4 && v.dim() == 4, name,
                    ": q, k and v must be [batch, head, position, channel]", shapes());
  TORCH_CHECK_VALUE(
      q.size(0) == k.size(0) && q.size(0) == v.size(0) && q.size(1) == k.size(1) && q.size(1) == v.size(1), name,
      ": q, k and v must have the same batch and heads", shapes());
  TORCH_CHECK_VALUE(k.size(2) == v.size(2), name, ": k and v must have the same positions", shapes());
  TORCH_CHECK_VALUE(q.size(3) == k.size(3), name, ": q and k must have the same channels", shapes());
  TORCH_CHECK_VALUE(q.size(2) <= k.size(2), name,
                    ": there are more queries than keys; the queries are the last positions",
                    " of the keys, so pass the keys of all of them", shapes());
  if (cu_seqlens.defined()) {
    TORCH_CHECK_VALUE(q.size(0) == 1 && q.size(2) == k.size(2), name,
                      ": with cu_seqlens there must be one batch entry, and as many queries as keys", shapes());
    CheckOffsets(name, cu_seqlens, q.size(2));
  }
  TORCH_CHECK_VALUE(InputFits(rule, rule_input, q, k), name, ": ", rule.input, " must be ", rule.input_layout,
                    shapes());
  for (const at::Tensor& other : {k, v, has_input ? rule_input : q}) {
    TORCH_CHECK_VALUE(other.scalar_type() == q.scalar_type(), name, ": all inputs must have one dtype, got ",
                      q.scalar_type(), " and ", other.scalar_type(), "; convert with .to(q.dtype)");
    TORCH_CHECK_VALUE(other.device() == q.device(), name, ": all inputs must be on one device, got ", q.device(),
                      " and ", other.device(), "; move with .to(q.device)");
  }
  TORCH_CHECK_VALUE(at::isFloatingType(q.scalar_type()), name, ": inputs must be floating point, got ",
                    q.scalar_type());
  try {
    CheckProblem(ShapeOf(q, k, v, rule_input, options.rule), options);
  } catch (const std::invalid_argument& error) {
    TORCH_CHECK_VALUE(false, name, ": ", error.what());
  }
  // Gates above 1 would make weights grow with distance, and no bound would hold. NaN passes, because it must reach the
  // output. On other devices than the CPU this check would make the device wait.
  TORCH_CHECK_VALUE(!rule.input_is_log_gate || !rule_input.device().is_cpu() || !AnyPositive(rule_input), name, ": ",
                    rule.input, " must be at most 0, the log of a gate in (0, 1]; pass logsigmoid(...), not its input");
}

DropoutOn ParseDropoutOn(const std::string& name) {
  std::string known;
  for (const DropoutMode& mode : kDropoutModes) {
    if (name == mode.name) return mode.value;
    known += (known.empty() ? "'" : ", '") + std::string(mode.name) + "'";
  }
  TORCH_CHECK_VALUE(false, "dropout_on must be one of ", known, ", got '", name, "'");
  return DropoutOn::kNone;  // never reached, but not every compiler sees that
}

}  // namespace tra
