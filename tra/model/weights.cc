#include "tra/model/weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "tra/base/json.h"
#include "tra/model/attention/variants.h"
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
    if (found == weights.end()) fail("lacks the tensor '" + name + "'; these are not the weights of such a model");
    const at::Tensor& from = found->second;
    if (from.sizes() != tensor.sizes() || !at::isFloatingType(from.scalar_type())) {
      fail(c10::str("tensor '", name, "' is ", from.scalar_type(), " ", from.sizes(), ", the model needs ",
                    tensor.scalar_type(), " ", tensor.sizes(), "; check its configuration"));
    }
  }
  const c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) tensor.copy_(weights.at(name));
}

namespace {

// Checks a configuration against the tensors before memory is allocated for it: a wrong one could ask for any amount.
void CheckSizes(const ModelConfig& config, const std::map<std::string, at::Tensor>& tensors) {
  const auto require = [&](const std::string& name, const std::vector<int64_t>& shape) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) throw std::invalid_argument("lacks the tensor '" + name + "' of its configuration");
    if (found->second.sizes() != at::IntArrayRef(shape)) {
      throw std::invalid_argument(c10::str("tensor '", name, "' is ", found->second.sizes(),
                                           ", but its configuration needs ", at::IntArrayRef(shape)));
    }
  };
  require("embedding", {config.vocabulary, config.width});
  require("layers." + std::to_string(config.layers - 1) + ".mlp_norm", {config.width});
  if (FindVariant(config.attention).positions != Positions::kNone) {
    require("positions", {config.max_length, config.width});
  }
  if (config.attention == "rel") require("layers.0.attention.bias", {config.heads, config.train_length});
}

}  // namespace

std::optional<ModelConfig> ConfigOf(const std::map<std::string, std::string>& metadata,
                                    const std::string& name_for_errors) {
  const auto found = metadata.find("config");
  if (found == metadata.end()) return std::nullopt;
  try {
    const nlohmann::json json = ParseJson(found->second), whole = ToJson(ModelConfig());
    // ConfigFromJson would take a default, but SaveModel wrote all of these.
    for (const auto& [field, value] : whole.items()) {
      if (!json.is_object() || json.contains(field)) continue;
      throw std::invalid_argument("model: lacks the field '" + field + "'");
    }
    return ConfigFromJson(json);
  } catch (const JsonError& error) {
    throw std::runtime_error(name_for_errors + ": its configuration " + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(name_for_errors + ": " + error.what());
  }
}

std::string ModelDifferences(const ModelConfig& now, const ModelConfig& before) {
  const nlohmann::json a = ToJson(now), b = ToJson(before);
  nlohmann::json all = a;
  all.update(b);
  const auto shown = [](const nlohmann::json& in, const std::string& field) {
    return in.contains(field) ? in[field].dump() : "auto";
  };
  std::string text;
  for (const auto& [field, value] : all.items()) {
    if (shown(a, field) == shown(b, field)) continue;
    text += (text.empty() ? "" : ", ") + field + " (" + shown(a, field) + ", was " + shown(b, field) + ")";
  }
  return text;
}

std::shared_ptr<Decoder> LoadModel(const std::string& path, at::Device device) {
  const SafetensorsFile file = ReadSafetensors(path);
  const std::optional<ModelConfig> config = ConfigOf(file.metadata, path);
  if (!config) {
    throw std::runtime_error(path +
                             ": has no 'config' in its metadata; make the model from a configuration and load the "
                             "weights into it");
  }
  std::shared_ptr<Decoder> model;
  try {
    CheckSizes(*config, file.tensors);
    model = std::make_shared<Decoder>(*config, 0, device);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  LoadWeights(*model, file.tensors, path);
  model->eval();
  return model;
}

}  // namespace tra
