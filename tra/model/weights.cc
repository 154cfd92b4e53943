#include "tra/model/weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "tra/model/safetensors.h"

namespace tra {

std::map<std::string, at::Tensor> NamedWeights(const Decoder& model) {
  std::map<std::string, at::Tensor> weights;
  for (const auto& each : model.named_parameters()) weights[each.key()] = each.value();
  return weights;
}

void SaveModel(const Decoder& model, const std::string& path) {
  WriteSafetensors(path, NamedWeights(model), {{"format", "tra"}, {"config", ToJson(model.config).dump()}});
}

void LoadWeights(Decoder& model, const std::map<std::string, at::Tensor>& weights, const std::string& name_for_errors) {
  const auto fail = [&](const std::string& what) { throw std::runtime_error(name_for_errors + ": " + what); };
  const std::map<std::string, at::Tensor> own = NamedWeights(model);
  for (const auto& [name, tensor] : weights) {
    if (own.count(name) == 0) fail("has a tensor '" + name + "' that a " + model.config.attention + " model does not");
  }
  for (const auto& [name, tensor] : own) {
    const auto found = weights.find(name);
    if (found == weights.end()) fail("lacks the tensor '" + name + "'; it is not the weights of such a model");
    const at::Tensor& from = found->second;
    if (from.sizes() != tensor.sizes() || !at::isFloatingType(from.scalar_type())) {
      fail(c10::str("tensor '", name, "' is ", from.scalar_type(), " ", from.sizes(), ", the model needs ",
                    tensor.scalar_type(), " ", tensor.sizes(), "; check its configuration"));
    }
  }
  const c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) tensor.copy_(weights.at(name));
}

std::shared_ptr<Decoder> LoadModel(const std::string& path) {
  const SafetensorsFile file = ReadSafetensors(path);
  const auto config = file.metadata.find("config");
  if (config == file.metadata.end()) {
    throw std::runtime_error(path +
                             ": has no 'config' in its metadata; make the model from a configuration and load the "
                             "weights into it");
  }
  std::shared_ptr<Decoder> model;
  try {
    model = std::make_shared<Decoder>(ConfigFromJson(nlohmann::json::parse(config->second)), 0);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path + ": its configuration is not JSON: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  LoadWeights(*model, file.tensors, path);
  return model;
}

}  // namespace tra
