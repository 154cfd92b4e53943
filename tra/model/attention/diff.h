// Implements differential attention (Ye et al., 2024): the difference of two attentions, in which the noise they share
// cancels.
#ifndef TRA_MODEL_ATTENTION_DIFF_H_
#define TRA_MODEL_ATTENTION_DIFF_H_

#include "tra/model/attention/layer.h"

namespace tra {

Mixer MakeDiff(AttentionLayer& layer, Init& init);

// Returns what the second attention of a layer is multiplied with before it is subtracted from the first, from the
// layer's weights lambda_{q1,k1,q2,k2}.
at::Tensor DiffLambda(const at::Tensor& q1, const at::Tensor& k1, const at::Tensor& q2, const at::Tensor& k2,
                      int64_t layer);

// Implements Variant::objection for diff.
std::string DiffObjection(const ModelConfig& config);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_DIFF_H_
