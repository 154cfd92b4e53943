// The table of attention variants, one row per variant.
#ifndef TRA_MODEL_ATTENTION_VARIANTS_H_
#define TRA_MODEL_ATTENTION_VARIANTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tra/model/attention/layer.h"

namespace tra {

// Says which position embeddings are added to those of the tokens.
enum class Positions : uint8_t {
  kNone,
  kIndex,  // embeds the index of a token
  kLabel,  // embeds a random label that grows with the index
};

struct Variant {
  const char* name;
  const char* summary;
  // Adds the parameters that the variant needs to the layer, and returns its mixer.
  Mixer (*make)(AttentionLayer& layer, Init& init);
  Positions positions = Positions::kNone;
  bool qk_norm = false;                        // unless the configuration says otherwise
  DropoutOn dropout_on = DropoutOn::kWeights;  // unless the configuration says otherwise
  // Says why the variant cannot work with a configuration, and what to do about it; empty if it can.
  std::string (*objection)(const ModelConfig& config) = nullptr;
};

const std::vector<Variant>& Variants();

// Returns the variant of this name. Throws std::invalid_argument that lists the known names.
const Variant& FindVariant(std::string_view name);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_VARIANTS_H_
