#include "tra/ops/checks.h"

#include <ATen/ATen.h>

#include "tra/kernels/attention_check.h"

namespace tra {

AttentionShape ShapeOf(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& own,
                       ScoreRule rule) {
  const auto size = [](const at::Tensor& t, int64_t dim) { return static_cast<size_t>(t.size(dim)); };
  const bool table = rule == ScoreRule::kDistance || rule == ScoreRule::kContextual;
  return {size(q, 0), size(q, 1), size(q, 2), size(k, 2), size(q, 3), size(v, 3), table ? size(own, -1) : 0};
}

namespace {

// [B,H,T]. A plain loop for fp32: in a decode step a chain of tensor operations would cost as much as the step.
bool AnyPositive(const at::Tensor& x) {
  if (x.scalar_type() != at::kFloat) return x.numel() > 0 && x.gt(0).any().item<bool>();
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

// A rule's own input, as errors speak of it.
struct OwnInput {
  const char* name;
  const char* layout;
};

OwnInput OwnInputOf(ScoreRule rule) {
  switch (rule) {
    case ScoreRule::kSoftmax:
      break;
    case ScoreRule::kThreshold:
      return {"log_gate", "[batch, head, query]"};
    case ScoreRule::kForget:
      return {"log_forget", "[batch, head, key]"};
    case ScoreRule::kDistance:
      return {"bias", "[head, distance]"};
    case ScoreRule::kContextual:
      return {"position_logits", "[batch, head, query, position]"};
  }
  return {"", ""};
}

bool OwnInputFits(ScoreRule rule, const at::Tensor& own, const at::Tensor& q, const at::Tensor& k) {
  if (rule == ScoreRule::kSoftmax) return true;
  if (rule == ScoreRule::kDistance) return own.dim() == 2 && own.size(0) == q.size(1);
  const int64_t rows = rule == ScoreRule::kForget ? k.size(2) : q.size(2);
  return own.dim() == (rule == ScoreRule::kContextual ? 4 : 3) && own.size(0) == q.size(0) &&
         own.size(1) == q.size(1) && own.size(2) == rows;
}

}  // namespace

void CheckAttention(const char* name, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const at::Tensor& own, const AttentionOptions& options) {
  TORCH_CHECK_VALUE(options.numbers == nullptr, name,
                    ": options.numbers is for the kernels; pass the sequences' numbers as a tensor");
  const bool owns = options.rule != ScoreRule::kSoftmax;
  const OwnInput input = OwnInputOf(options.rule);
  TORCH_CHECK(q.defined() && k.defined() && v.defined() && (!owns || own.defined()), name, ": q, k, v",
              owns ? ", " : "", input.name, " must be tensors");
  const auto shapes = [&] {
    return c10::str("; got q ", q.sizes(), ", k ", k.sizes(), ", v ", v.sizes(),
                    owns ? c10::str(", ", input.name, " ", own.sizes()) : std::string());
  };
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && v.dim() == 4, name,
              ": q, k and v must be [batch, head, position, channel]", shapes());
  TORCH_CHECK(q.size(0) == k.size(0) && q.size(0) == v.size(0) && q.size(1) == k.size(1) && q.size(1) == v.size(1),
              name, ": q, k and v must have the same batch and heads", shapes());
  TORCH_CHECK(k.size(2) == v.size(2), name, ": k and v must have the same positions", shapes());
  TORCH_CHECK(q.size(3) == k.size(3), name, ": q and k must have the same channels", shapes());
  TORCH_CHECK(q.size(2) <= k.size(2), name, ": there are more queries than keys; the queries are the last positions",
              " of the keys, so pass the keys of all of them", shapes());
  TORCH_CHECK(OwnInputFits(options.rule, own, q, k), name, ": ", input.name, " must be ", input.layout, shapes());
  for (const at::Tensor& other : {k, v, owns ? own : q}) {
    TORCH_CHECK(other.scalar_type() == q.scalar_type(), name, ": all inputs must have one dtype, got ", q.scalar_type(),
                " and ", other.scalar_type(), "; convert with .to(q.dtype)");
    TORCH_CHECK(other.device() == q.device(), name, ": all inputs must be on one device, got ", q.device(), " and ",
                other.device(), "; move with .to(q.device)");
  }
  TORCH_CHECK(at::isFloatingType(q.scalar_type()), name, ": inputs must be floating point, got ", q.scalar_type());
  try {
    CheckProblem(ShapeOf(q, k, v, own, options.rule), options);
  } catch (const std::invalid_argument& error) {
    TORCH_CHECK_VALUE(false, name, ": ", error.what());
  }
  // A gate above 1 would grow with distance, which no bound survives. NaN passes: it must reach the output. Elsewhere
  // than on the CPU the question would make the device wait.
  const bool gated = options.rule == ScoreRule::kThreshold || options.rule == ScoreRule::kForget;
  TORCH_CHECK_VALUE(!gated || !own.device().is_cpu() || !AnyPositive(own), name, ": ", input.name,
                    " must be at most 0, the log of a gate in (0, 1]; pass logsigmoid(...), not its input");
}

DropoutOn ParseDropoutOn(const std::string& name) {
  if (name == "logits") return DropoutOn::kLogits;
  if (name == "weights") return DropoutOn::kWeights;
  if (name == "none") return DropoutOn::kNone;
  TORCH_CHECK_VALUE(false, "dropout_on must be 'logits', 'weights' or 'none', got '", name, "'");
}

}  // namespace tra
