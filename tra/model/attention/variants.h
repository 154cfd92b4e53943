// The table of attention variants: one row each.
#ifndef TRA_MODEL_ATTENTION_VARIANTS_H_
#define TRA_MODEL_ATTENTION_VARIANTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tra/model/attention/layer.h"

namespace tra {

// Embeddings of absolute positions added to those of the tokens.
enum class Positions : uint8_t {
  kNone,
  kIndex,  // of the index of a token
  kLabel,  // of a random index that grows with it
};

struct Variant {
  const char* name;
  const char* summary;
  // Gives the layer the parameters it needs, and returns what it does with its projections.
  AttentionLayer::Mixer (*make)(AttentionLayer& layer, Init& init);
  Positions positions = Positions::kNone;
  bool qk_norm = false;                        // unless the configuration says otherwise
  DropoutOn dropout_on = DropoutOn::kWeights;  // likewise
};

const std::vector<Variant>& Variants();

// Throws std::invalid_argument with the names there are.
const Variant& FindVariant(std::string_view name);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_VARIANTS_H_
