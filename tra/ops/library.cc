// torch.ops.tra.*: schemas and the little that lies between them and the functions of this directory.
#include <torch/library.h>

#include "tra/ops/attention.h"
#include "tra/ops/checks.h"
#include "tra/ops/cross_entropy.h"

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

AttentionOptions SoftmaxOptions(bool qk_norm, double dropout_p, int64_t seed) {
  AttentionOptions options = TraOptions(qk_norm, dropout_p, "weights", seed, kStopNever);
  options.rule = ScoreRule::kSoftmax;
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

at::Tensor DecodeOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate,
                    bool qk_norm, double stop_eps) {
  return AttentionDecodeStep(q, k, v, log_gate, TraOptions(qk_norm, 0.0, "none", 0, stop_eps));
}

at::Tensor SoftmaxOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool qk_norm, double dropout_p,
                     int64_t seed) {
  return Attention(q, k, v, at::Tensor(), SoftmaxOptions(qk_norm, dropout_p, seed));
}

at::Tensor SoftmaxComposedOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool qk_norm,
                             double dropout_p, int64_t seed) {
  return AttentionComposed(q, k, v, at::Tensor(), SoftmaxOptions(qk_norm, dropout_p, seed));
}

at::Tensor SoftmaxDecodeOp(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool qk_norm) {
  return AttentionDecodeStep(q, k, v, at::Tensor(), SoftmaxOptions(qk_norm, 0.0, 0));
}

std::tuple<at::Tensor, int64_t, int64_t> LinearCrossEntropyOp(const at::Tensor& hidden, const at::Tensor& weight,
                                                              const at::Tensor& targets) {
  const CrossEntropySum sum = LinearCrossEntropy(hidden, weight, targets);
  return {sum.loss, sum.supervised, sum.correct};
}

// Without a dispatch key these are composite: autograd comes from within.
TORCH_LIBRARY(tra, library) {
  static_assert(kDefaultStopEps == 0x1p-26f, "the schemas below say 1.4901161193847656e-08");
  library.def(
      "attention(Tensor q, Tensor k, Tensor v, Tensor log_gate, *, bool qk_norm=True, float dropout_p=0.0, "
      "str dropout_on=\"logits\", int seed=0, float stop_eps=1.4901161193847656e-08) -> Tensor",
      &TraOp);
  library.def(
      "attention_composed(Tensor q, Tensor k, Tensor v, Tensor log_gate, *, bool qk_norm=True, float dropout_p=0.0, "
      "str dropout_on=\"logits\", int seed=0, float stop_eps=1.4901161193847656e-08) -> Tensor",
      &TraComposedOp);
  library.def(
      "attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, Tensor log_gate, *, bool qk_norm=True, "
      "float stop_eps=1.4901161193847656e-08) -> Tensor",
      &DecodeOp);
  library.def(
      "softmax_attention(Tensor q, Tensor k, Tensor v, *, bool qk_norm=False, float dropout_p=0.0, int seed=0) -> "
      "Tensor",
      &SoftmaxOp);
  library.def(
      "softmax_attention_composed(Tensor q, Tensor k, Tensor v, *, bool qk_norm=False, float dropout_p=0.0, "
      "int seed=0) -> Tensor",
      &SoftmaxComposedOp);
  library.def("softmax_attention_decode(Tensor q, Tensor k_cache, Tensor v_cache, *, bool qk_norm=False) -> Tensor",
              &SoftmaxDecodeOp);
  library.def("dropout_mask(int batch, int heads, int queries, int keys, float p, int seed) -> Tensor", &DropoutMask);
  library.def(
      "linear_cross_entropy(Tensor hidden, Tensor weight, Tensor targets) -> (Tensor loss, int supervised, int "
      "correct)",
      &LinearCrossEntropyOp);
}

}  // namespace
}  // namespace tra
