#include "tra/train/checkpoint.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <stdexcept>

#include "tra/model/safetensors.h"
#include "tra/model/weights.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using run_files::In;

void SyncDirectory(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// Makes the link `latest` beside a checkpoint point to it, at once: it never is missing. A convenience for people and
// scripts, which nothing here reads, so that a file system without links may do without it.
void PointLatestTo(const fs::path& checkpoint) {
  const fs::path link = checkpoint.parent_path() / "latest", aside = checkpoint.parent_path() / ".latest";
  std::error_code ignored;
  fs::remove(aside, ignored);  // left by a process that was killed
  fs::create_directory_symlink(checkpoint.filename(), aside, ignored);
  if (!ignored) fs::rename(aside, link, ignored);
}

// Throws if a checkpoint is not of the run that wants to continue from it.
void RequireSameRun(const SoundCheckpoint& sound, const RunConfig& config,
                    const std::map<std::string, std::string>& data, const Warning& warning) {
  RequireSameConfig(sound.checkpoint, sound.state, config);
  const std::string changed = DataDifferences(data, sound.state.made_with);
  if (!changed.empty()) {
    throw std::invalid_argument(sound.checkpoint.path + ": was trained on other data: what is read has changed: " +
                                changed + "; put it back, or start another run");
  }
  if (!sound.state.made_with.IsRecorded() && warning) {
    warning(sound.checkpoint.path + ": is of a version that did not record its configuration and data; that both are " +
            "the same is taken on trust");
  }
}

// Returns the tensors that exist: before its first step a parameter has none.
std::map<std::string, at::Tensor> OptimizerTensors(const std::vector<std::string>& names, const AdamW& optimizer) {
  std::map<std::string, at::Tensor> tensors;
  at::Tensor steps = at::empty({static_cast<int64_t>(names.size())}, at::kLong);
  for (size_t i = 0; i < names.size(); ++i) {
    const AdamW::State& state = optimizer.States()[i];
    steps.data_ptr<int64_t>()[i] = state.step;
    if (!state.exp_avg.defined()) continue;
    tensors["exp_avg." + names[i]] = state.exp_avg;
    tensors["exp_avg_sq." + names[i]] = state.exp_avg_sq;
  }
  tensors["steps"] = steps;
  return tensors;
}

void LoadOptimizer(const std::string& path, const std::vector<std::string>& names, AdamW& optimizer) {
  const SafetensorsFile file = ReadSafetensors(path);
  const auto get = [&](const std::string& name) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) throw std::runtime_error(path + ": lacks the tensor '" + name + "'");
    return found->second;
  };
  const at::Tensor steps = get("steps");
  if (steps.scalar_type() != at::kLong || steps.dim() != 1 || steps.size(0) != static_cast<int64_t>(names.size())) {
    throw std::runtime_error(path + ": 'steps' does not match this model's parameters");
  }
  std::vector<AdamW::State> states(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    states[i].step = steps.data_ptr<int64_t>()[i];
    if (states[i].step == 0) continue;
    states[i].exp_avg = get("exp_avg." + names[i]);
    states[i].exp_avg_sq = get("exp_avg_sq." + names[i]);
  }
  optimizer.LoadStates(states);
}

}  // namespace

void SaveCheckpoint(const std::string& run, const Decoder& model, const std::vector<std::string>& names,
                    const AdamW& optimizer, const TrainingState& state, int64_t keep) {
  const std::string target = CheckpointPath(run, state.step);
  const fs::path root = fs::path(target).parent_path();
  const std::string aside = UnfinishedPath(run, state.step);
  fs::remove_all(aside);  // left by a process that was killed
  fs::create_directories(aside);
  SaveModel(model, In(aside, run_files::kModel));
  WriteSafetensors(In(aside, run_files::kOptimizer), OptimizerTensors(names, optimizer), {{"format", "tra-adamw"}});
  WriteWhole(In(aside, run_files::kState), StateJson(state, aside));
  fs::remove_all(target);  // exists if a resumed run saves the same step again
  fs::rename(aside, target);
  PointLatestTo(target);
  SyncDirectory(root);
  const std::vector<Checkpoint> all = ListCheckpoints(run);
  for (size_t i = static_cast<size_t>(keep); i < all.size(); ++i) fs::remove_all(all[i].path);
}

std::optional<TrainingState> LoadCheckpoint(const std::string& run, const RunConfig& config,
                                            const std::map<std::string, std::string>& data, Decoder& model,
                                            const std::vector<std::string>& names, AdamW& optimizer,
                                            const Warning& warning) {
  const auto sound = FindSoundCheckpoint(run, {run_files::kModel, run_files::kOptimizer}, warning);
  if (!sound) return std::nullopt;
  RequireSameRun(*sound, config, data, warning);
  const std::string model_path = In(sound->checkpoint.path, run_files::kModel);
  const SafetensorsFile weights = ReadSafetensors(model_path);
  RequireSameModel(model_path, model.config, ConfigOf(weights.metadata, model_path).value_or(model.config));
  LoadWeights(model, weights.tensors, model_path);
  LoadOptimizer(In(sound->checkpoint.path, run_files::kOptimizer), names, optimizer);
  // Renames damaged checkpoints: otherwise they would count as the newest, and SaveCheckpoint would delete sound ones
  // instead.
  for (const Checkpoint& each : sound->damaged) {
    const fs::path path = each.path;
    const fs::path aside = path.parent_path() / ("damaged-" + path.filename().string());
    fs::remove_all(aside);
    fs::rename(path, aside);
  }
  if (!sound->damaged.empty()) PointLatestTo(sound->checkpoint.path);
  return sound->state;
}

}  // namespace tra
