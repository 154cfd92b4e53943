#include "tra/model/attention/diff.h"

#include <ATen/ATen.h>

#include <cmath>

#include "tra/model/init.h"
#include "tra/ops/rms_norm.h"
#include "tra/ops/rope.h"

namespace tra {

// Half as many heads, each with two queries and keys of the usual width and a value of twice it:
//   out = norm(softmax(q1 k1) v - lambda * softmax(q2 k2) v) * (1 - lambda_init)
AttentionLayer::Mixer MakeDiff(AttentionLayer& layer, Init& init) {
  const int64_t pairs = layer.config.heads / 2, width = layer.config.HeadWidth();
  const double lambda_init = 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(layer.layer));
  const auto vector = [&](const char* name) { return layer.register_parameter(name, init.Normal({width}, 0.1)); };
  const at::Tensor q1 = vector("lambda_q1"), k1 = vector("lambda_k1");
  const at::Tensor q2 = vector("lambda_q2"), k2 = vector("lambda_k2");
  const at::Tensor gain = layer.register_parameter("norm", init.Constant({2 * width}, 1));  // one for all heads
  return [&layer, pairs, lambda_init, q1, k1, q2, k2, gain](const AttentionCall& call) {
    const at::Tensor lambda = (q1 * k1).sum().exp() - (q2 * k2).sum().exp() + lambda_init;

    // Neighbouring heads make a pair: [B,2 * pairs,T,d] -> every other one.
    const at::Tensor q = Rope(layer.Heads(call.q), call.first_position, layer.config.rope_theta);
    const at::Tensor k = Rope(layer.Heads(call.k), call.first_position, layer.config.rope_theta);
    const at::Tensor v = AttentionLayer::Heads(call.v, pairs);  // [B,pairs,T,2d]
    const auto half = [&](size_t which) {
      const auto first = static_cast<int64_t>(which);
      return layer.Attend(call, ScoreRule::kSoftmax, q.slice(1, first, at::nullopt, 2),
                          k.slice(1, first, at::nullopt, 2), v, {}, which);
    };
    const at::Tensor out = half(0) - lambda * half(1);
    constexpr double kEps = 1e-5;
    return RmsNorm(out, gain, kEps) * (1.0 - lambda_init);
  };
}

}  // namespace tra
