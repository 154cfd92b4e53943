#include "tra/model/attention/diff.h"

#include <ATen/ATen.h>

#include <cmath>

#include "tra/model/init.h"
#include "tra/ops/rms_norm.h"
#include "tra/ops/rope.h"

namespace tra {
namespace {

double LambdaInit(int64_t layer) { return 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(layer)); }

}  // namespace

at::Tensor DiffLambda(const at::Tensor& q1, const at::Tensor& k1, const at::Tensor& q2, const at::Tensor& k2,
                      int64_t layer) {
  return (q1 * k1).sum().exp() - (q2 * k2).sum().exp() + LambdaInit(layer);
}

// Makes half as many heads, each with two queries and two keys of the usual width and a value of twice that width:
//   out = norm(softmax(q1 k1) v - lambda * softmax(q2 k2) v) * (1 - lambda_init)
Mixer MakeDiff(AttentionLayer& layer, Init& init) {
  const int64_t heads = layer.config.heads, width = layer.config.HeadWidth();
  const double theta = layer.config.rope_theta;
  const auto vector = [&](const char* name) { return layer.register_parameter(name, init.Normal({width}, 0.1)); };
  const at::Tensor q1 = vector("lambda_q1"), k1 = vector("lambda_k1");
  const at::Tensor q2 = vector("lambda_q2"), k2 = vector("lambda_k2");
  const at::Tensor gain = layer.register_parameter("norm", init.Constant({2 * width}, 1));  // shared by all heads
  Mixer mixer;
  mixer.prepare = [heads, theta](const AttentionCall& call) -> std::vector<AttentionInputs> {
    const at::Tensor q = Rope(SplitHeads(call.q, heads), call.positions, theta);
    const at::Tensor k = Rope(SplitHeads(call.k, heads), call.positions, theta);
    const at::Tensor v = SplitHeads(call.v, heads / 2);  // [B,H/2,T,2d]
    // Neighbouring heads make a pair: one attention takes the first head of every pair, the other the second.
    const auto half = [](const at::Tensor& x, int64_t which) { return x.slice(1, which, at::nullopt, 2); };
    return {{ScoreRule::kSoftmax, half(q, 0), half(k, 0), v, {}}, {ScoreRule::kSoftmax, half(q, 1), half(k, 1), v, {}}};
  };
  mixer.join = [number = layer.layer, q1, k1, q2, k2, gain](const std::vector<at::Tensor>& outputs) {
    constexpr double kEps = 1e-5;
    const at::Tensor difference = outputs[0] - DiffLambda(q1, k1, q2, k2, number) * outputs[1];
    return RmsNorm(difference, gain, kEps) * (1.0 - LambdaInit(number));
  };
  return mixer;
}

std::string DiffObjection(const ModelConfig& config) {
  const auto text = [](auto n) { return std::to_string(n); };
  if (config.HeadWidth() % 2 != 0) {
    return "diff turns pairs of channels, so heads must have an even width; got " + text(config.HeadWidth());
  }
  if (config.heads % 2 != 0) {
    return "diff pairs its heads, so their number must be even; got " + text(config.heads);
  }
  if (2 * config.HeadWidth() > static_cast<int64_t>(kMaxHeadWidth)) {
    return "diff doubles the width of values to " + text(2 * config.HeadWidth()) + ", at most " + text(kMaxHeadWidth) +
           "; use more heads";
  }
  return "";
}

}  // namespace tra
