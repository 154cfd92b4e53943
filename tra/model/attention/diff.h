// Differential attention (Ye et al., 2024): what two attentions agree on is noise.
#ifndef TRA_MODEL_ATTENTION_DIFF_H_
#define TRA_MODEL_ATTENTION_DIFF_H_

#include "tra/model/attention/layer.h"

namespace tra {

AttentionLayer::Mixer MakeDiff(AttentionLayer& layer, Init& init);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_DIFF_H_
