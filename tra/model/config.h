// Describes a model without its weights. Files of weights carry it as JSON.
#ifndef TRA_MODEL_CONFIG_H_
#define TRA_MODEL_CONFIG_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tra/base/names.h"
#include "tra/kernels/attention.h"

namespace tra {

// Says how the norms and the residual stream are wired.
enum class Block : uint8_t {
  kPrenorm,         // x += attention(norm(x)); x += mlp(norm(x)): the paper's "Llama 3 variant"
  kNormedResidual,  // x = norm(x); x += attention(x); x = norm(x); x += mlp(x): the authors' notebook
};

constexpr NamedValue<Block> kBlocks[] = {{"prenorm", Block::kPrenorm}, {"normed-residual", Block::kNormedResidual}};

// Holds one of the paper's sizes, by name.
struct ModelSize {
  const char* name;
  int64_t layers, heads, width;
};
constexpr ModelSize kModelSizes[] = {{"mini", 4, 4, 256}, {"medium", 8, 8, 512}};

// No model that fits any machine is larger. The sizes of a tensor come from files, and their product must fit into 64
// bits.
constexpr int64_t kMostLayers = 4096, kMostHeads = 4096, kMostWidth = int64_t{1} << 20;
constexpr int64_t kMostPositions = int64_t{1} << 24;
constexpr int64_t kMostVocabulary = int64_t{1} << 24;

struct ModelConfig {
  std::string attention = "tra";  // a row of Variants()
  int64_t vocabulary = 6;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t width = 256;  // channels of the residual stream; a head has width / heads
  Block block = Block::kPrenorm;

  double embedding_dropout = 0.01;
  double attention_dropout = 0.01;
  double mlp_dropout = 0.01;
  std::optional<DropoutOn> dropout_on;  // in attention; by default the variant's: logits for tra, weights elsewhere
  std::optional<bool> qk_norm;          // by default the variant's: on for tra, off elsewhere

  int64_t train_length = 512;  // longest sequence in training: rel has one bias for all distances beyond it
  int64_t max_length = 4096;   // longest sequence of all: ape has this many positions, label this many labels
  double rope_theta = 500000.0;
  int64_t cope_positions = 64;
  double stop_eps = kDefaultStopEps;  // for tra's early stop; see kDefaultStopEps

  int64_t HeadWidth() const { return width / heads; }

  // Return configurations of the sizes in kModelSizes.
  static ModelConfig Mini(int64_t vocabulary);
  static ModelConfig Medium(int64_t vocabulary);
};

// Throws std::invalid_argument that names the field, its value and what it may be. The constructor of Decoder calls
// this.
void CheckConfig(const ModelConfig& config);

nlohmann::json ToJson(const ModelConfig& config);
// Reads what ToJson wrote, and checks it. Fields that are not given keep their defaults. Throws std::invalid_argument.
ModelConfig ConfigFromJson(const nlohmann::json& json);

}  // namespace tra

#endif  // TRA_MODEL_CONFIG_H_
