#include "tra/run/loaded_run.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tra/model/attention/variants.h"
#include "tra/model/weights.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"

namespace tra {

namespace {

// Returns the checkpoint of a step, after checking that it is sound.
Checkpoint FindCheckpoint(const std::string& path, int64_t step) {
  std::string steps;
  for (const Checkpoint& each : ListCheckpoints(path)) {
    if (each.step == step) {
      ReadState(each, {run_files::kModel});
      return each;
    }
    steps.insert(0, ", " + std::to_string(each.step));
  }
  throw std::invalid_argument(path + ": has no checkpoint of step " + std::to_string(step) + "; it has 0" + steps);
}

}  // namespace

LoadedRun LoadRun(const std::string& path, at::Device device, const Warning& warning, std::optional<int64_t> step) {
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
  const Checkpoint checkpoint = step.value_or(0) == 0 ? sound->checkpoint : FindCheckpoint(path, *step);
  run.model = LoadModel(run_files::In(checkpoint.path, run_files::kModel), device);
  run.step = step.value_or(checkpoint.step);
  if (run.step == 0) run.model = std::make_shared<Decoder>(run.model->config, run.config.train.seed, device);
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
