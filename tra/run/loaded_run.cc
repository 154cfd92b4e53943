#include "tra/run/loaded_run.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tra/model/attention/variants.h"
#include "tra/model/weights.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/run/initial_weights.h"

namespace tra {

namespace {

// Returns the checkpoint of a step, after checking that it is sound.
SoundCheckpoint FindCheckpoint(const std::string& path, int64_t step) {
  std::string steps;
  for (const Checkpoint& each : ListCheckpoints(path)) {
    if (each.step == step) return {each, ReadState(each, {run_files::kModel}), {}};
    steps.insert(0, ", " + std::to_string(each.step));
  }
  throw std::invalid_argument(path + ": has no checkpoint of step " + std::to_string(step) + "; it has 0" + steps);
}

// Throws if the model of a checkpoint is not what config.toml says. Only the data know what is 0 there.
void RequireModelOf(const RunConfig& config, const std::string& file, const ModelConfig& in_file) {
  ModelConfig said = config.model;
  said.vocabulary = in_file.vocabulary;
  if (said.train_length == 0) said.train_length = in_file.train_length;
  if (said.max_length == 0) said.max_length = in_file.max_length;
  RequireSameModel(file, said, in_file);
}

// Makes the model that training began with.
std::shared_ptr<Decoder> ModelOfStep0(const RunConfig& config, const TrainingState& state, const ModelConfig& model,
                                      at::Device device) {
  auto made = std::make_shared<Decoder>(model, config.train.seed, device);
  if (config.train.init_from.empty()) return made;
  const InitialWeights loaded = LoadInitialWeights(config.train.init_from, *made);
  const auto recorded = state.made_with.data.find(kInitialWeightsSum);
  if (recorded != state.made_with.data.end() && recorded->second != loaded.sha256) {
    throw std::runtime_error(loaded.file + ": has changed since the run began with it; score a later step");
  }
  made->eval();
  return made;
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
  const SoundCheckpoint chosen = step.value_or(0) == 0 ? *sound : FindCheckpoint(path, *step);
  RequireSameConfig(chosen.checkpoint, chosen.state, run.config);
  const std::string file = run_files::In(chosen.checkpoint.path, run_files::kModel);
  run.model = LoadModel(file, device);
  RequireModelOf(run.config, file, run.model->config);
  run.step = step.value_or(chosen.checkpoint.step);
  if (run.step == 0) run.model = ModelOfStep0(run.config, chosen.state, run.model->config, device);
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
