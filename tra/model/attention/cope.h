// Implements contextual position encoding (Golovneva et al., 2024): a key's position is the sum of the gates between it
// and the query.
#ifndef TRA_MODEL_ATTENTION_COPE_H_
#define TRA_MODEL_ATTENTION_COPE_H_

#include "tra/model/attention/layer.h"

namespace tra {

Mixer MakeCope(AttentionLayer& layer, Init& init);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_COPE_H_
