// What a model is, before it has weights. Travels with them as JSON.
#ifndef TRA_MODEL_CONFIG_H_
#define TRA_MODEL_CONFIG_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tra/kernels/attention.h"

namespace tra {

// Where the residual stream runs.
enum class Block : uint8_t {
  kPrenorm,         // x += attention(norm(x)); x += mlp(norm(x)): the paper's "Llama 3 variant"
  kNormedResidual,  // x = norm(x); x += attention(x); x = norm(x); x += mlp(x): the authors' notebook
};

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
  std::optional<DropoutOn> dropout_on;  // of attention; by default the variant's: logits for tra, weights elsewhere
  std::optional<bool> qk_norm;          // by default the variant's: on for tra, off elsewhere

  int64_t train_length = 512;  // longest sequence in training: rel has one bias for all distances beyond it
  int64_t max_length = 4096;   // longest sequence ever: ape has as many positions, label draws from as many
  double rope_theta = 500000.0;
  int64_t cope_positions = 64;
  double stop_eps = kDefaultStopEps;  // of tra's early stop

  int64_t HeadWidth() const { return width / heads; }

  // The paper's sizes.
  static ModelConfig Mini(int64_t vocabulary);
  static ModelConfig Medium(int64_t vocabulary);
};

// Throws std::invalid_argument naming the field, the value and what it may be.
void CheckConfig(const ModelConfig& config);

nlohmann::json ToJson(const ModelConfig& config);
// Fields not given keep their defaults; fields unknown are refused.
ModelConfig ConfigFromJson(const nlohmann::json& json);

}  // namespace tra

#endif  // TRA_MODEL_CONFIG_H_
