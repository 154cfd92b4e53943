#include "tra/run/initial_weights.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "tra/base/checksum.h"
#include "tra/base/mapped_file.h"
#include "tra/model/attention/variants.h"
#include "tra/model/safetensors.h"
#include "tra/model/weights.h"
#include "tra/run/checkpoints.h"
#include "tra/run/files.h"

namespace tra {
namespace {

// Weights mean something else in a model that differs in one of these, even where all shapes fit.
constexpr std::array<const char*, 6> kWhatWeightsAreOf = {"attention", "vocabulary", "layers",
                                                          "heads",     "width",      "block"};

// Returns what differs, with the keys of a configuration: "model.heads (2, there 4)".
std::string Misfits(const ModelConfig& here, const ModelConfig& there) {
  const nlohmann::json a = ToJson(here), b = ToJson(there);
  std::string text;
  const auto compare = [&](const std::string& field, const nlohmann::json& mine, const nlohmann::json& theirs) {
    if (mine == theirs) return;
    // The data determine the vocabulary; all others are keys.
    text += (text.empty() ? "" : ", ") + (field == "vocabulary" ? "the vocabulary" : "model." + field) + " (" +
            mine.dump() + ", there " + theirs.dump() + ")";
  };
  for (const char* field : kWhatWeightsAreOf) compare(field, a.at(field), b.at(field));
  if (!text.empty()) return text;
  const Variant& variant = FindVariant(here.attention);
  compare("qk_norm", here.qk_norm.value_or(variant.qk_norm), there.qk_norm.value_or(variant.qk_norm));
  if (here.attention == "rel") compare("train_length", here.train_length, there.train_length);
  if (here.attention == "cope") compare("cope_positions", here.cope_positions, there.cope_positions);
  if (variant.positions != Positions::kNone) compare("max_length", here.max_length, there.max_length);
  return text;
}

void RequireFit(const std::string& path, const SafetensorsFile& file, const ModelConfig& model) {
  const std::optional<ModelConfig> config = ConfigOf(file.metadata, path);
  if (!config) return;
  const std::string misfits = Misfits(model, *config);
  if (misfits.empty()) return;
  throw std::invalid_argument("train.init_from: " + path + " holds weights of another model: " + misfits +
                              "; make them equal, or begin with other weights");
}

}  // namespace

std::string FindInitialWeights(const std::string& from) {
  if (std::filesystem::is_regular_file(from)) return from;
  const auto sound = FindSoundCheckpoint(from, {run_files::kModel}, nullptr);
  if (sound) return run_files::In(sound->checkpoint.path, run_files::kModel);
  throw std::runtime_error("train.init_from: " + from +
                           " is neither a file of weights nor the folder of a run that has saved a checkpoint");
}

void CheckInitialWeights(const std::string& from, const ModelConfig& model) {
  const std::string path = FindInitialWeights(from);
  RequireFit(path, ReadSafetensors(path), model);
}

InitialWeights LoadInitialWeights(const std::string& from, Decoder& model) {
  const std::string path = FindInitialWeights(from);
  const MappedFile bytes(path);  // one view of the file, for the weights and for their checksum
  const SafetensorsFile file = ParseSafetensors(bytes.Bytes().data(), bytes.Bytes().size(), path);
  RequireFit(path, file, model.config);
  LoadWeights(model, file.tensors, path);
  return {path, Sha256Hex(bytes.Bytes())};
}

}  // namespace tra
