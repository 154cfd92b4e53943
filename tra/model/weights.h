// Saves and loads models: the weights as safetensors, the configuration in the file's metadata.
//
// Names and shapes, for layer N: embedding [V,E], layers.N.attention_norm [E],
// layers.N.attention.{query,key,value}.weight [E,E], layers.N.attention.out.{weight,bias}, layers.N.mlp_norm [E],
// layers.N.mlp.up.{weight [4E,E],bias} (up, then gate), layers.N.mlp.down.{weight [E,2E],bias}, norm [E], head [V,E];
// positions [max_length,E] for ape and label; and within layers.N.attention: gate.{weight [H,E],bias} for tra and fot,
// bias [H,train_length] for rel, positions [E/H,cope_positions] for cope, lambda_{q1,k1,q2,k2} [E/H] and norm [2E/H]
// for diff.
#ifndef TRA_MODEL_WEIGHTS_H_
#define TRA_MODEL_WEIGHTS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tra/model/decoder.h"

namespace tra {

// Returns the model's own tensors, not copies, by name.
std::map<std::string, at::Tensor> NamedWeights(const Decoder& model);

void SaveModel(const Decoder& model, const std::string& path);

// Loads a model in fp32 and in evaluation mode; call train() to continue training. Errors begin with the path; missing,
// unknown or misshapen tensors are named.
std::shared_ptr<Decoder> LoadModel(const std::string& path, at::Device device = at::kCPU);

// Returns the configuration in the metadata of a file of weights; nothing if it has none. Throws std::runtime_error,
// which begins with the name, for one that is not whole or makes no sense.
std::optional<ModelConfig> ConfigOf(const std::map<std::string, std::string>& metadata,
                                    const std::string& name_for_errors);

// Returns for a message what differs between two models, such as "heads (2, was 4)"; empty if nothing does.
std::string ModelDifferences(const ModelConfig& now, const ModelConfig& before);

// Copies weights into a model of the same shape.
void LoadWeights(Decoder& model, const std::map<std::string, at::Tensor>& weights, const std::string& name_for_errors);

}  // namespace tra

#endif  // TRA_MODEL_WEIGHTS_H_
