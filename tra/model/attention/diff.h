// Implements differential attention (Ye et al., 2024): the difference of two attentions, in which the noise they share
// cancels.
#ifndef TRA_MODEL_ATTENTION_DIFF_H_
#define TRA_MODEL_ATTENTION_DIFF_H_

#include "tra/model/attention/layer.h"

namespace tra {

Mixer MakeDiff(AttentionLayer& layer, Init& init);

// Implements Variant::objection for diff.
std::string DiffObjection(const ModelConfig& config);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_DIFF_H_
