#include "tra/train/checkpoint.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "tra/base/atomic_file.h"
#include "tra/base/checksum.h"
#include "tra/base/mapped_file.h"
#include "tra/model/safetensors.h"
#include "tra/model/weights.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kModel[] = "model.safetensors", kOptimizer[] = "optimizer.safetensors", kState[] = "state.json";
constexpr char kPrefix[] = "step-";

struct Found {
  int64_t step;
  fs::path path;
};

// Newest first.
std::vector<Found> Checkpoints(const std::string& run) {
  std::vector<Found> found;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(fs::path(run) / "checkpoints", missing)) {
    const std::string name = entry.path().filename().string();
    int64_t step = -1;
    if (name.rfind(kPrefix, 0) != 0) continue;
    const char* const end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data() + sizeof(kPrefix) - 1, end, step);
    if (error == std::errc() && at == end) found.push_back({step, entry.path()});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.step > b.step; });
  return found;
}

void SyncDirectory(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

std::string FileSum(const fs::path& path) { return Sha256Hex(MappedFile(path.string()).Bytes()); }

// Only tensors that are there: before its first step a parameter has none.
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
    throw std::runtime_error(path + ": 'steps' is not of this model's parameters");
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

std::string StateSum(json state) {
  state.erase("sha256");
  return Sha256Hex(state.dump());
}

// Of a checkpoint whose state and `files` are as they were saved. Throws otherwise.
Progress ReadSound(const Found& found, const std::vector<const char*>& files) {
  const std::string path = (found.path / kState).string();
  const json state = json::parse(MappedFile(path).Bytes());
  const json& sums = state.at("sha256");
  if (StateSum(state) != sums.at(kState).get<std::string>()) {
    throw std::runtime_error(path + ": its SHA-256 is not the one it names");
  }
  Progress progress;
  progress.step = state.at("step").get<int64_t>();
  progress.target_hits = state.at("target_hits").get<int64_t>();
  progress.loss_mean = state.at("loss_mean").get<double>();
  progress.tokens = state.at("tokens").get<int64_t>();
  progress.metrics_bytes = state.at("metrics_bytes").get<int64_t>();
  progress.events_bytes = state.at("events_bytes").get<int64_t>();
  if (progress.step != found.step) {
    throw std::runtime_error(path + ": is of step " + std::to_string(progress.step) + ", its folder's name is not");
  }
  for (const char* file : files) {
    if (FileSum(found.path / file) != sums.at(file).get<std::string>()) {
      throw std::runtime_error((found.path / file).string() + ": its SHA-256 is not the one of state.json");
    }
  }
  return progress;
}

struct Sound {
  Found found;
  Progress progress;
  std::vector<Found> damaged;  // newer ones
};

std::optional<Sound> FindSound(const std::string& run, const std::vector<const char*>& files, const Warning& warning) {
  std::vector<Found> damaged;
  for (const Found& found : Checkpoints(run)) {
    try {
      const Progress progress = ReadSound(found, files);
      return Sound{found, progress, damaged};
    } catch (const std::bad_alloc&) {
      throw;  // says nothing about the files
    } catch (const std::exception& error) {
      if (warning) warning("checkpoint " + found.path.string() + " is damaged and passed over: " + error.what());
      damaged.push_back(found);
    }
  }
  if (damaged.empty()) return std::nullopt;
  throw std::runtime_error(run + ": all of its checkpoints are damaged; to begin again, move " + run +
                           "/checkpoints away");
}

}  // namespace

void SaveCheckpoint(const std::string& run, const Decoder& model, const std::vector<std::string>& names,
                    const AdamW& optimizer, const Progress& progress, int64_t keep) {
  const fs::path root = fs::path(run) / "checkpoints";
  const fs::path target = root / (kPrefix + std::to_string(progress.step));
  const fs::path aside = root / (".writing-" + std::to_string(progress.step));
  fs::remove_all(aside);  // of a process that was killed
  fs::create_directories(aside);
  SaveModel(model, (aside / kModel).string());
  WriteSafetensors((aside / kOptimizer).string(), OptimizerTensors(names, optimizer), {{"format", "tra-adamw"}});
  json state = {
      {"step", progress.step},     {"target_hits", progress.target_hits},     {"loss_mean", progress.loss_mean},
      {"tokens", progress.tokens}, {"metrics_bytes", progress.metrics_bytes}, {"events_bytes", progress.events_bytes}};
  const std::string sum = StateSum(state);
  state["sha256"] = {{kModel, FileSum(aside / kModel)}, {kOptimizer, FileSum(aside / kOptimizer)}, {kState, sum}};
  const std::string text = state.dump(2) + "\n";
  AtomicFile file((aside / kState).string());
  file.Write(text.data(), text.size());
  file.Commit();
  fs::remove_all(target);  // the same step again, after a resume
  fs::rename(aside, target);
  SyncDirectory(root);
  const std::vector<Found> all = Checkpoints(run);
  for (size_t i = static_cast<size_t>(keep); i < all.size(); ++i) fs::remove_all(all[i].path);
}

std::optional<Progress> LoadCheckpoint(const std::string& run, Decoder& model, const std::vector<std::string>& names,
                                       AdamW& optimizer, const Warning& warning) {
  const auto sound = FindSound(run, {kModel, kOptimizer}, warning);
  if (!sound) return std::nullopt;
  const std::string model_path = (sound->found.path / kModel).string();
  LoadWeights(model, ReadSafetensors(model_path).tensors, model_path);
  LoadOptimizer((sound->found.path / kOptimizer).string(), names, optimizer);
  // Under their names they would be the newest, and the next ones saved the first to go.
  for (const Found& each : sound->damaged) {
    const fs::path aside = each.path.parent_path() / ("damaged-" + each.path.filename().string());
    fs::remove_all(aside);
    fs::rename(each.path, aside);
  }
  return sound->progress;
}

std::optional<SoundCheckpoint> NewestSoundModel(const std::string& run, const Warning& warning) {
  const auto sound = FindSound(run, {kModel}, warning);
  if (!sound) return std::nullopt;
  return SoundCheckpoint{sound->found.path.string(), sound->found.step};
}

std::optional<std::string> NewestCheckpoint(const std::string& run) {
  const std::vector<Found> all = Checkpoints(run);
  if (all.empty()) return std::nullopt;
  return all.front().path.string();
}

}  // namespace tra
