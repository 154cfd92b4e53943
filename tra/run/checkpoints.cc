#include "tra/run/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "tra/base/checksum.h"
#include "tra/base/folder.h"
#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/base/system_error.h"
#include "tra/model/weights.h"
#include "tra/run/files.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using run_files::In;

constexpr char kPrefix[] = "step-", kUnfinished[] = ".writing-";

std::string FileSum(const std::string& path) { return Sha256OfFile(InputFile(path)); }

std::string StateSum(json state) {
  state.erase("sha256");
  return Sha256Hex(state.dump());
}

}  // namespace

std::vector<Checkpoint> ListCheckpoints(const std::string& run) {
  std::vector<Checkpoint> found;
  const std::string folder = In(run, run_files::kCheckpoints);
  for (const std::string& name : ListFolder(folder)) {
    int64_t step = -1;
    if (name.rfind(kPrefix, 0) != 0) continue;
    const char* const end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data() + sizeof(kPrefix) - 1, end, step);
    if (error == std::errc() && at == end) found.push_back({step, In(folder, name.c_str())});
  }
  std::sort(found.begin(), found.end(), [](const Checkpoint& a, const Checkpoint& b) { return a.step > b.step; });
  return found;
}

std::string CheckpointPath(const std::string& run, int64_t step) {
  return In(run, run_files::kCheckpoints) + "/" + kPrefix + std::to_string(step);
}

std::string UnfinishedPath(const std::string& run, int64_t step) {
  return In(run, run_files::kCheckpoints) + "/" + kUnfinished + std::to_string(step);
}

void RemoveUnfinished(const std::string& run) {
  const std::string folder = In(run, run_files::kCheckpoints);
  std::error_code ignored;  // it does no harm where it is
  for (const std::string& name : ListFolder(folder)) {
    if (name.rfind(kUnfinished, 0) == 0) fs::remove_all(In(folder, name.c_str()), ignored);
  }
}

std::string StateJson(const TrainingState& training, const std::string& folder) {
  json state = {{"step", training.step},
                {"target_hits", training.target_hits},
                {"loss_mean", training.loss_mean},
                {"tokens", training.tokens},
                {"metrics_bytes", training.metrics_bytes},
                {"events_bytes", training.events_bytes},
                {"threads", training.threads},
                {"processes", training.processes},
                {"config", training.made_with.config},
                {"data", training.made_with.data}};
  const std::string sum = StateSum(state);
  state["sha256"] = {{run_files::kModel, FileSum(In(folder, run_files::kModel))},
                     {run_files::kOptimizer, FileSum(In(folder, run_files::kOptimizer))},
                     {run_files::kState, sum}};
  return state.dump(2) + "\n";
}

TrainingState ReadState(const Checkpoint& checkpoint, const std::vector<const char*>& files) {
  const std::string path = In(checkpoint.path, run_files::kState);
  const json state = ParseJson(ReadFile(path, kMostJsonBytes));
  const json& sums = state.at("sha256");
  if (StateSum(state) != sums.at(run_files::kState).get<std::string>()) {
    throw std::runtime_error(path + ": its SHA-256 is not the one it records");
  }
  TrainingState training;
  training.step = state.at("step").get<int64_t>();
  training.target_hits = state.at("target_hits").get<int64_t>();
  training.loss_mean = state.at("loss_mean").get<double>();
  training.tokens = state.at("tokens").get<int64_t>();
  training.metrics_bytes = state.at("metrics_bytes").get<int64_t>();
  training.events_bytes = state.at("events_bytes").get<int64_t>();
  if (state.contains("config")) {  // versions before did not record what follows
    training.threads = state.at("threads").get<int64_t>();
    training.processes = state.at("processes").get<int64_t>();
    training.made_with.config = state.at("config").get<std::map<std::string, std::string>>();
    training.made_with.data = state.at("data").get<std::map<std::string, std::string>>();
  }
  if (training.step != checkpoint.step) {
    throw std::runtime_error(path + ": is of step " + std::to_string(training.step) +
                             ", but its folder is named after another");
  }
  for (const char* file : files) {
    if (FileSum(In(checkpoint.path, file)) != sums.at(file).get<std::string>()) {
      throw std::runtime_error(In(checkpoint.path, file) + ": its SHA-256 is not the one in state.json");
    }
  }
  return training;
}

std::optional<SoundCheckpoint> FindSoundCheckpoint(const std::string& run, const std::vector<const char*>& files,
                                                   const Warning& warning) {
  std::vector<Checkpoint> damaged;
  for (const Checkpoint& each : ListCheckpoints(run)) {
    try {
      const TrainingState state = ReadState(each, files);
      return SoundCheckpoint{each, state, damaged};
    } catch (const std::bad_alloc&) {
      throw;  // says nothing about the files
    } catch (const std::exception& error) {
      const auto* refused = dynamic_cast<const SystemError*>(&error);
      if (refused != nullptr && !refused->MeansMissing()) throw;  // nor does this
      if (!Exists(each.path)) continue;                           // the process that trains has replaced it meanwhile
      if (warning) warning("checkpoint " + each.path + " is damaged and passed over: " + error.what());
      damaged.push_back(each);
    }
  }
  if (damaged.empty()) return std::nullopt;
  throw std::runtime_error(run + ": all of its checkpoints are damaged; to begin again, move " +
                           In(run, run_files::kCheckpoints) + " away");
}

void RequireSameConfig(const Checkpoint& checkpoint, const TrainingState& state, const RunConfig& config) {
  const std::string differences = ConfigDifferences(config, state.made_with, state.step);
  if (differences.empty()) return;
  throw std::invalid_argument(checkpoint.path + ": was made with another configuration: " + differences + "; put " +
                              run_files::kConfig +
                              " back as it was, or move this checkpoint away if it is of another run");
}

void RequireSameModel(const std::string& file, const ModelConfig& now, const ModelConfig& in_file) {
  const std::string differences = ModelDifferences(now, in_file);
  if (differences.empty()) return;
  throw std::invalid_argument(file + ": is of another model than " + run_files::kConfig + " says: " + differences +
                              "; put " + run_files::kConfig +
                              " back as it was, or move this checkpoint away if it is of another run");
}

std::optional<int> RecordedThreads(const std::string& run) {
  try {
    const auto found = FindSoundCheckpoint(run, {}, nullptr);
    if (found && found->state.threads > 0) return static_cast<int>(found->state.threads);
  } catch (const std::runtime_error&) {
  }
  return std::nullopt;
}

}  // namespace tra
