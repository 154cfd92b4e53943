#include "tra/cli/loaded_run.h"

#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "tra/model/attention/variants.h"
#include "tra/model/weights.h"
#include "tra/run/directory.h"
#include "tra/train/checkpoint.h"

namespace tra::cli {

LoadedRun LoadRun(const std::string& path, at::Device device) {
  if (!IsRun(path)) throw std::runtime_error(path + ": is no run (it has no config.toml); tra train makes one");
  const auto checkpoint = NewestSoundModel(path, [](const std::string& text) { std::cerr << "tra: " << text << "\n"; });
  if (!checkpoint) {
    throw std::runtime_error(path + ": has no checkpoint yet; train it first: tra train " + path + " --resume");
  }
  LoadedRun run;
  run.config = ReadRunConfig(path);
  run.model = LoadModel(checkpoint->path + "/model.safetensors", device);
  run.step = checkpoint->step;
  return run;
}

LoadedModel LoadRunOrFile(const std::string& path, at::Device device) {
  if (std::filesystem::is_regular_file(path)) return {LoadModel(path, device), std::nullopt};
  LoadedRun run = LoadRun(path, device);
  return {std::move(run.model), std::move(run.config)};
}

std::optional<int64_t> LongestSequence(const ModelConfig& config) {
  if (FindVariant(config.attention).positions == Positions::kNone) return std::nullopt;
  return config.max_length;
}

}  // namespace tra::cli
