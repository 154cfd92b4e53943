#include "tra/run/directory.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tra/base/atomic_file.h"
#include "tra/base/folder.h"
#include "tra/base/mapped_file.h"
#include "tra/run/checkpoints.h"
#include "tra/run/data.h"
#include "tra/run/environment.h"
#include "tra/run/files.h"

namespace tra {

namespace fs = std::filesystem;
using namespace run_files;  // NOLINT(google-build-using-namespace): the names of this file's subject

void WriteWhole(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.Write(text.data(), text.size());
  file.Commit();
}

bool IsRun(const std::string& path) { return Exists(In(path, kConfig)); }
bool IsDone(const std::string& path) { return Exists(In(path, kDone)); }
bool HasCheckpoints(const std::string& path) { return !ListCheckpoints(path).empty(); }
RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& set) {
  return ReadConfig(In(path, kConfig), set);
}

std::string ConfigDifferences(const RunConfig& now, const RunConfig& before) {
  RunConfig a = now, b = before;
  const std::vector<ConfigKey> keys = ConfigKeys(a), old = ConfigKeys(b);
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].get() == old[i].get()) continue;
    text += (text.empty() ? "" : ", ") + keys[i].name + " (" + keys[i].get() + ", was " + old[i].get() + ")";
  }
  return text;
}

std::string DefaultRunName(const RunConfig& config) {
  std::string label = config.label.empty() ? "" : "-" + config.label;
  std::replace(label.begin(), label.end(), '/', '-');  // or it would name other folders
  return "runs/" + TaskName(config.data) + "-" + config.model.attention + label + "-s" +
         std::to_string(config.train.seed);
}

RunDirectory::RunDirectory(std::string path, const RunConfig& config, Start start, const std::string& device)
    : path_(std::move(path)), config_(config) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    throw std::runtime_error(path_ + ": cannot be created: " + error.message() + "; choose another folder with --run");
  }
  lock_ = std::make_unique<FileLock>(In(path_, kLock), FileLock::Wait::kNo);
  if (lock_->HeldByAnother()) {
    throw std::runtime_error(path_ +
                             ": another process is training there; wait for it, or choose another folder with --run");
  }
  if (!lock_->HasFile() && !IsDone(path_)) {
    throw std::runtime_error(path_ + ": cannot be written: " + std::generic_category().message(lock_->Error()) +
                             "; make it writable, or choose another folder with --run");
  }
  const bool begun = IsDone(path_) || HasCheckpoints(path_);
  if (start == Start::kNew && begun) {
    throw std::runtime_error(path_ +
                             ": holds a run already; continue it with --resume, or choose another folder with --run");
  }
  if (begun) {
    CheckBegun();
  } else {
    Begin(device);
  }
  fs::remove(In(path_, kFailed), error);  // fails in a read-only folder, which does no harm
  if (!Locked()) return;
  RemoveUnfinished(path_);
  RemoveLeftovers(path_);
}

// Checks that the run in the folder is the one that should continue.
void RunDirectory::CheckBegun() const {
  const bool is_run = IsRun(path_);
  if (is_run) {
    const std::string differences = ConfigDifferences(config_, ReadRunConfig(path_));
    if (!differences.empty()) {
      throw std::invalid_argument(path_ + ": was started with another configuration: " + differences +
                                  "; resume with the one it has (tra train " + path_ + " --resume), or start another");
    }
  }
  const bool done = IsDone(path_);
  if (done && is_run) return;  // there is nothing to continue
  const auto newest = FindSoundCheckpoint(path_, {}, nullptr);
  if (newest) RequireSameConfig(newest->checkpoint, newest->state, config_);
  if (done || is_run) return;
  if (!newest || !newest->state.made_with.IsRecorded()) {
    throw std::runtime_error(path_ + ": has checkpoints but no " + kConfig +
                             ", and they do not record their configuration; put it back, or choose another folder with "
                             "--run");
  }
  WriteWhole(In(path_, kConfig), ConfigToml(config_));  // it was lost, and is known to be this one
}

void RunDirectory::Begin(const std::string& device) const {
  const std::string path = In(path_, kConfig), text = ConfigToml(config_);
  // env.json is written first, so that a config.toml without it is somebody else's.
  if (Exists(path) && !Exists(In(path_, kEnvironment)) && MappedFile(path).Bytes() != text) {
    throw std::invalid_argument(path +
                                ": was not written by tra train, and would be overwritten; to train with it, give "
                                "the run a folder of its own: tra train " +
                                path + " --run FOLDER");
  }
  WriteWhole(In(path_, kEnvironment), EnvironmentJson(device));
  WriteWhole(path, text);
}

std::string RunDirectory::Extend(int64_t steps) {
  const auto newest = FindSoundCheckpoint(path_, {kModel, kOptimizer}, nullptr);
  if (!newest) throw std::logic_error(path_ + ": has not begun");
  RequireSameConfig(newest->checkpoint, newest->state, config_);
  TrainConfig& train = config_.train;
  const int64_t before = train.steps, at = newest->state.step;
  if (steps == before) return "";
  if (steps <= at) {
    throw std::invalid_argument(path_ + ": has taken " + std::to_string(at) + " steps; --steps must be more, got " +
                                std::to_string(steps));
  }
  if (train.target > 0 && newest->state.target_hits >= train.target_evals) {
    throw std::invalid_argument(path_ + ": has reached its train.target at step " + std::to_string(at) +
                                ", which ends it whatever --steps says");
  }
  // A kill between any two of these leaves a run that the same command extends.
  if (Exists(In(path_, kResults))) {  // the scores of the steps before stay
    fs::rename(In(path_, kResults), In(path_, ("results-step-" + std::to_string(at) + ".json").c_str()));
  }
  fs::remove(In(path_, kDone));
  const int64_t in_force = StepsOfSchedule(train, at - 1);
  auto& changes = train.extended;  // those from here on have not taken effect, or are undone
  while (!changes.empty() && changes.back()[0] >= at) changes.pop_back();
  changes.push_back({at, in_force});
  train.steps = steps;
  WriteWhole(In(path_, kConfig), ConfigToml(config_));
  return "goes on from step " + std::to_string(at) + " to " + std::to_string(steps) + " instead of " +
         std::to_string(before) + " steps; from here on the learning rate follows that number";
}

void RunDirectory::Finish(const std::string& how) { WriteWhole(In(path_, kDone), how + "\n"); }

void RunDirectory::Fail(const std::string& why) {
  try {
    WriteWhole(In(path_, kFailed), why + "\n");
  } catch (const std::runtime_error&) {  // the user should see the original failure
  }
}

}  // namespace tra
