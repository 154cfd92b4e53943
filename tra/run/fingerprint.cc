#include "tra/run/fingerprint.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tra/run/directory.h"

namespace tra {
namespace {

// Reads a recorded configuration. Keys that did not exist when it was made have their defaults, which do what was done
// before there was such a key.
RunConfig ReadRecorded(const std::map<std::string, std::string>& values) {
  RunConfig config;
  for (const ConfigKey& key : ConfigKeys(config)) {
    const auto found = values.find(key.name);
    if (found == values.end()) continue;
    try {
      key.set(found->second);
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(std::string("a checkpoint of another version of tra: ") + error.what());
    }
  }
  return config;
}

// Says whether two schedules reckon with the same number of steps in all steps before `end`.
bool SameStepsBefore(int64_t end, const TrainConfig& a, const TrainConfig& b) {
  std::vector<int64_t> steps = {0};  // between these nothing changes
  for (const TrainConfig* each : {&a, &b}) {
    for (const std::vector<int64_t>& change : each->extended) steps.push_back(change[0]);
  }
  return std::all_of(steps.begin(), steps.end(),
                     [&](int64_t step) { return step >= end || StepsOfSchedule(a, step) == StepsOfSchedule(b, step); });
}

}  // namespace

RunConfig WithoutPlaces(RunConfig config) {
  config.data.corpus = config.data.cache = config.data.tokenizer_files = config.data.file = config.data.folder = "";
  return config;
}

std::map<std::string, std::string> FingerprintOf(const RunConfig& config) {
  RunConfig copy = WithoutPlaces(config);
  std::map<std::string, std::string> values;
  for (const ConfigKey& key : ConfigKeys(copy)) values[key.name] = key.get();
  return values;
}

std::string ConfigDifferences(const RunConfig& now, const Fingerprint& before, int64_t step) {
  if (!before.IsRecorded()) return "";
  RunConfig recorded = ReadRecorded(before.config);
  if (SameStepsBefore(step, now.train, recorded.train)) {
    recorded.train.steps = now.train.steps;
    recorded.train.extended = now.train.extended;
  }
  return ConfigDifferences(WithoutPlaces(now), recorded);
}

std::string DataDifferences(const std::map<std::string, std::string>& now, const Fingerprint& before) {
  std::string text;
  for (const auto& [name, sum] : before.data) {
    const auto found = now.find(name);
    if (found == now.end() || found->second == sum) continue;
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace tra
