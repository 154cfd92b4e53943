#include "tra/run/loaded_run.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tra/model/attention/variants.h"
#include "tra/model/weights.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"

namespace tra {

LoadedRun LoadRun(const std::string& path, at::Device device, const Warning& warning) {
  if (!IsRun(path)) {
    throw std::runtime_error(path + ": is not the folder of a run (it has no " + run_files::kConfig +
                             "); tra train makes one");
  }
  const auto sound = FindSoundCheckpoint(path, {run_files::kModel}, warning);
  if (!sound) {
    throw std::runtime_error(path + ": has no checkpoint yet; train it first: tra train " + path + " --resume");
  }
  LoadedRun run;
  run.config = ReadRunConfig(path);
  run.model = LoadModel(run_files::In(sound->checkpoint.path, run_files::kModel), device);
  run.step = sound->checkpoint.step;
  return run;
}

LoadedModel LoadRunOrFile(const std::string& path, at::Device device, const Warning& warning) {
  if (std::filesystem::is_regular_file(path)) return {LoadModel(path, device), std::nullopt};
  LoadedRun run = LoadRun(path, device, warning);
  return {std::move(run.model), std::move(run.config)};
}

std::optional<int64_t> LongestSequence(const ModelConfig& config) {
  if (FindVariant(config.attention).positions == Positions::kNone) return std::nullopt;
  return config.max_length;
}

}  // namespace tra
