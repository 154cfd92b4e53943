// Registers torch.ops.tra.*: the schemas, and thin wrappers from them to the functions of this directory.
#include <torch/library.h>

#include "tra/kernels/attention/rules.h"
#include "tra/ops/attention.h"
#include "tra/ops/attention_rows.h"
#include "tra/ops/checks.h"
#include "tra/ops/cross_entropy.h"
#include "tra/ops/dropout.h"
#include "tra/ops/entrance.h"
#include "tra/ops/rms_norm.h"
#include "tra/ops/rope.h"
#include "tra/ops/swiglu.h"

namespace tra {
namespace {

AttentionOptions TraOptions(bool qk_norm, double dropout_p, const std::string& dropout_on, int64_t seed,
                            double stop_eps) {
  AttentionOptions options;
  options.qk_norm = qk_norm;
  options.dropout_p = static_cast<float>(dropout_p);
  options.dropout_on = ParseDropoutOn(dropout_on);
  options.seed = static_cast<uint64_t>(seed);
  options.stop_eps = static_cast<float>(stop_eps);
  return options;
}

AttentionOptions BaselineOptions(ScoreRule rule, bool qk_norm, double dropout_p, int64_t seed) {
  AttentionOptions options = TraOptions(qk_norm, dropout_p, "weights", seed, kStopNever);
  options.rule = rule;
  return options;
}

at::Tensor TraOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                 bool qk_norm, double dropout_p, const std::string& dropout_on, int64_t seed, double stop_eps) {
  return Attention(q, k, v, log_gate, TraOptions(qk_norm, dropout_p, dropout_on, seed, stop_eps));
}

at::Tensor TraComposedOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                         bool qk_norm, double dropout_p, const std::string& dropout_on, int64_t seed, double stop_eps) {
  return AttentionComposed(q, k, v, log_gate, TraOptions(qk_norm, dropout_p, dropout_on, seed, stop_eps));
}

using OptionalTensor = c10::optional<at::Tensor>;

at::Tensor TraVarlenOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                       const at::Tensor& cu_seqlens, bool qk_norm, double dropout_p, const std::string& dropout_on,
                       int64_t seed, double stop_eps, const OptionalTensor& sequence_ids) {
  return AttentionVarlen(q, k, v, log_gate, cu_seqlens, TraOptions(qk_norm, dropout_p, dropout_on, seed, stop_eps),
                         sequence_ids.value_or(at::Tensor()));
}

std::vector<std::string> DropoutModesOp() {
  std::vector<std::string> names;
  for (const DropoutMode& mode : kDropoutModes) names.emplace_back(mode.name);
  return names;
}

at::Tensor DecodeOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                    bool qk_norm, double stop_eps) {
  return AttentionDecodeStep(q, k, v, log_gate, TraOptions(qk_norm, 0.0, "none", 0, stop_eps));
}

using AttentionMatrixTensors =
    std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

AttentionMatrixTensors RowsOp(const at::Tensor& q, const at::Tensor& k, const OptionalTensor& rule_input,
                              const std::string& rule, c10::optional<bool> qk_norm, int64_t first_query,
                              c10::optional<int64_t> last_query, int64_t first_key, c10::optional<int64_t> last_key,
                              double stop_eps) {
  std::string known;
  for (const RuleInfo& info : kRules) {
    known += std::string(known.empty() ? "" : ", ") + info.name;
    if (rule != info.name) continue;
    const bool threshold = info.rule == ScoreRule::kThreshold;
    AttentionOptions options = TraOptions(qk_norm.value_or(threshold), 0.0, "none", 0, stop_eps);
    options.rule = info.rule;
    AttentionMatrix m = AttentionRows(q, k, rule_input.value_or(at::Tensor()), options,
                                      {first_query, last_query.value_or(-1), first_key, last_key.value_or(-1)});
    return {m.state, m.score, m.position, m.term, m.logit, m.weight, m.stopped_at, m.unseen};
  }
  TORCH_CHECK_VALUE(false, "attention_rows: there is no rule '", rule, "'; the rules are ", known);
}

at::Tensor SoftmaxOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool qk_norm, double dropout_p,
                     int64_t seed) {
  return Attention(q, k, v, at::Tensor(), BaselineOptions(ScoreRule::kSoftmax, qk_norm, dropout_p, seed));
}

at::Tensor SoftmaxComposedOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool qk_norm,
                             double dropout_p, int64_t seed) {
  return AttentionComposed(q, k, v, at::Tensor(), BaselineOptions(ScoreRule::kSoftmax, qk_norm, dropout_p, seed));
}

at::Tensor SoftmaxVarlenOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& cu_seqlens,
                           bool qk_norm, double dropout_p, int64_t seed, const OptionalTensor& sequence_ids) {
  return AttentionVarlen(q, k, v, at::Tensor(), cu_seqlens,
                         BaselineOptions(ScoreRule::kSoftmax, qk_norm, dropout_p, seed),
                         sequence_ids.value_or(at::Tensor()));
}

at::Tensor SoftmaxDecodeOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool qk_norm) {
  return AttentionDecodeStep(q, k, v, at::Tensor(), BaselineOptions(ScoreRule::kSoftmax, qk_norm, 0.0, 0));
}

// Defines name, name_varlen, name_composed and name_decode for a rule that has an input.
template <ScoreRule kRule>
void DefineRule(torch::Library& library, const std::string& name, const std::string& rule_input) {
  const std::string inputs = "(Tensor q, Tensor k, Tensor v, Tensor " + rule_input + ", *, bool qk_norm=False";
  const std::string drops = inputs + ", float dropout_p=0.0, int seed=0) -> Tensor";
  DefineOperator(library, name + drops,
                 [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                    bool qk_norm, double dropout_p, int64_t seed) {
                   return Attention(q, k, v, rule_input, BaselineOptions(kRule, qk_norm, dropout_p, seed));
                 });
  DefineOperator(library,
                 name + "_varlen(Tensor q, Tensor k, Tensor v, Tensor " + rule_input +
                     ", Tensor cu_seqlens, *, bool qk_norm=False, float dropout_p=0.0, int seed=0, "
                     "Tensor? sequence_ids=None) -> Tensor",
                 [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                    const at::Tensor& cu_seqlens, bool qk_norm, double dropout_p, int64_t seed,
                    const OptionalTensor& sequence_ids) {
                   return AttentionVarlen(q, k, v, rule_input, cu_seqlens,
                                          BaselineOptions(kRule, qk_norm, dropout_p, seed),
                                          sequence_ids.value_or(at::Tensor()));
                 });
  library.def((name + "_composed" + drops).c_str(),
              [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                 bool qk_norm, double dropout_p, int64_t seed) {
                return AttentionComposed(q, k, v, rule_input, BaselineOptions(kRule, qk_norm, dropout_p, seed));
              });
  DefineOperator(
      library, name + "_decode" + inputs + ") -> Tensor",
      [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input, bool qk_norm) {
        return AttentionDecodeStep(q, k, v, rule_input, BaselineOptions(kRule, qk_norm, 0.0, 0));
      });
}

at::Tensor DropoutMaskOp(int64_t batch, int64_t heads, int64_t queries, int64_t keys, double p, int64_t seed) {
  return DropoutMask(batch, heads, queries, keys, p, static_cast<uint64_t>(seed));
}

at::Tensor SwiGluOp(const at::Tensor& x, double dropout_p, int64_t seed) {
  return SwiGlu(x, dropout_p, static_cast<uint64_t>(seed));
}

at::Tensor RopeOp(const at::Tensor& x, int64_t first_position, double theta) { return Rope(x, first_position, theta); }

at::Tensor DropoutOp(const at::Tensor& x, double p, int64_t seed) { return Dropout(x, p, static_cast<uint64_t>(seed)); }

std::tuple<at::Tensor, int64_t, int64_t> LinearCrossEntropyOp(const at::Tensor& hidden, const at::Tensor& weight,
                                                              const at::Tensor& targets) {
  const CrossEntropySum sum = LinearCrossEntropy(hidden, weight, targets);
  return {sum.loss, sum.supervised, sum.correct};
}

// Those whose names end in _composed are compositions of tensor operations to LibTorch too.
TORCH_LIBRARY(tra, library) {
  static_assert(kDefaultStopEps == 0x1p-26f, "the schemas below say 1.4901161193847656e-08");
  DefineOperator(library,
                 "attention(Tensor q, Tensor k, Tensor v, Tensor log_gate, *, bool qk_norm=True, float dropout_p=0.0, "
                 "str dropout_on=\"logits\", int seed=0, float stop_eps=1.4901161193847656e-08) -> Tensor",
                 &TraOp);
  DefineOperator(
      library,
      "attention_varlen(Tensor q, Tensor k, Tensor v, Tensor log_gate, Tensor cu_seqlens, *, bool qk_norm=True, "
      "float dropout_p=0.0, str dropout_on=\"logits\", int seed=0, float stop_eps=1.4901161193847656e-08, "
      "Tensor? sequence_ids=None) -> Tensor",
      &TraVarlenOp);
  library.def(
      "attention_composed(Tensor q, Tensor k, Tensor v, Tensor log_gate, *, bool qk_norm=True, float dropout_p=0.0, "
      "str dropout_on=\"logits\", int seed=0, float stop_eps=1.4901161193847656e-08) -> Tensor",
      &TraComposedOp);
  DefineOperator(library,
                 "attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, Tensor log_gate, *, bool qk_norm=True, "
                 "float stop_eps=1.4901161193847656e-08) -> Tensor",
                 &DecodeOp);
  DefineOperator(
      library,
      "attention_rows(Tensor q, Tensor k, Tensor? rule_input=None, *, str rule=\"threshold\", bool? qk_norm=None, "
      "int first_query=0, int? last_query=None, int first_key=0, int? last_key=None, "
      "float stop_eps=1.4901161193847656e-08) -> (Tensor state, Tensor score, Tensor position, Tensor term, "
      "Tensor logit, Tensor weight, Tensor stopped_at, Tensor unseen)",
      &RowsOp);
  DefineOperator(
      library,
      "softmax_attention(Tensor q, Tensor k, Tensor v, *, bool qk_norm=False, float dropout_p=0.0, int seed=0) -> "
      "Tensor",
      &SoftmaxOp);
  DefineOperator(library,
                 "softmax_attention_varlen(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens, *, bool qk_norm=False, "
                 "float dropout_p=0.0, int seed=0, Tensor? sequence_ids=None) -> Tensor",
                 &SoftmaxVarlenOp);
  library.def(
      "softmax_attention_composed(Tensor q, Tensor k, Tensor v, *, bool qk_norm=False, float dropout_p=0.0, "
      "int seed=0) -> Tensor",
      &SoftmaxComposedOp);
  DefineOperator(library,
                 "softmax_attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, *, bool qk_norm=False) -> Tensor",
                 &SoftmaxDecodeOp);
  DefineRule<ScoreRule::kForget>(library, "forgetting_attention", "log_forget");
  DefineRule<ScoreRule::kDistance>(library, "distance_attention", "bias");
  DefineRule<ScoreRule::kContextual>(library, "contextual_attention", "position_logits");
  library.def("dropout_modes() -> str[]", &DropoutModesOp);
  DefineOperator(library, "dropout_mask(int batch, int heads, int queries, int keys, float p, int seed) -> Tensor",
                 &DropoutMaskOp);
  DefineOperator(library, "rms_norm(Tensor x, Tensor gain, *, float eps=1e-06) -> Tensor", &RmsNorm);
  DefineOperator(library, "add_rms_norm(Tensor x, Tensor y, Tensor gain, *, float eps=1e-06) -> (Tensor, Tensor)",
                 &AddRmsNorm);
  DefineOperator(library, "swiglu(Tensor x, *, float dropout_p=0.0, int seed=0) -> Tensor", &SwiGluOp);
  DefineOperator(library, "dropout(Tensor x, *, float p, int seed) -> Tensor", &DropoutOp);
  DefineOperator(library, "rope(Tensor x, *, int first_position=0, float theta=10000.0) -> Tensor", &RopeOp);
  DefineOperator(
      library,
      "linear_cross_entropy(Tensor hidden, Tensor weight, Tensor targets) -> (Tensor loss, int supervised, int "
      "correct)",
      &LinearCrossEntropyOp);
}

}  // namespace
}  // namespace tra
