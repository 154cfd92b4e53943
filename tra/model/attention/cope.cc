#include "tra/model/attention/cope.h"

#include <ATen/ATen.h>

#include <cmath>

#include "tra/ops/product.h"

namespace tra {

Mixer MakeCope(AttentionLayer& layer, Init& init) {
  const int64_t heads = layer.config.heads, width = layer.config.HeadWidth();
  const bool norms = UsesQkNorm(layer.config);
  // [d,position], shared by the heads.
  const at::Tensor table =
      layer.register_parameter("positions", init.Constant({width, layer.config.cope_positions}, 0));
  return {[heads, width, norms, table](const AttentionCall& call) -> std::vector<AttentionInputs> {
    // Heads are side by side in q, so all of them make one product with the table: [B,T,H,d] -> [B,T,H,position].
    at::Tensor q = call.q.reshape({call.q.size(0), call.q.size(1), heads, width});
    if (norms) q = q * at::rsqrt(q.square().mean(-1, true) + AttentionOptions().norm_eps);
    // logit = (q.k + q.e[p]) / sqrt(d)
    const at::Tensor z = ApplyLinear(q, (table / std::sqrt(static_cast<double>(width))).t());
    return {{ScoreRule::kContextual, SplitHeads(call.q, heads), SplitHeads(call.k, heads), SplitHeads(call.v, heads),
             z.transpose(1, 2)}};
  }};
}

}  // namespace tra
