#include "tra/model/attention/cope.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tra {

AttentionLayer::Mixer MakeCope(AttentionLayer& layer, Init& init) {
  // [d,position], shared by the heads.
  const at::Tensor table =
      layer.register_parameter("positions", init.Constant({layer.config.HeadWidth(), layer.config.cope_positions}, 0));
  return [&layer, table](const AttentionCall& call) {
    // Heads are side by side in q, so all of them make one product with the table: [B,T,H,d] -> [B,T,H,position].
    at::Tensor q = call.q.reshape({call.q.size(0), call.q.size(1), layer.config.heads, layer.config.HeadWidth()});
    if (layer.QkNorm()) q = q * at::rsqrt(q.square().mean(-1, true) + AttentionOptions().norm_eps);
    // logit = (q.k + q.e[p]) / sqrt(d)
    const at::Tensor z = at::matmul(q, table / std::sqrt(static_cast<double>(layer.config.HeadWidth())));
    return layer.Attend(call, ScoreRule::kContextual, layer.Heads(call.q), layer.Heads(call.k), layer.Heads(call.v),
                        z.transpose(1, 2));
  };
}

}  // namespace tra
