#include "tra/cli/label_runs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tra/cli/charted_run.h"
#include "tra/run/config.h"
#include "tra/run/directory.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

// Says whether runs that differ in this key are of different settings. They are not if it is what seeds and attentions
// are, says only how a run is watched, saved and scored, or where files are.
bool IsOfSetting(const std::string& key) {
  constexpr std::array<std::string_view, 12> kOthers = {"label",
                                                        "model.attention",
                                                        "train.seed",
                                                        "train.log_every",
                                                        "train.eval_every",
                                                        "train.spike",
                                                        "train.checkpoint_every",
                                                        "train.keep",
                                                        "train.part_positions",
                                                        "data.cache",
                                                        "data.tokenizer_files",
                                                        "data.corpus"};
  return key.rfind("eval.", 0) != 0 && std::find(kOthers.begin(), kOthers.end(), key) == kOthers.end();
}

// Returns the values of the keys that matter, in the order of the keys; nothing for a run whose configuration cannot be
// read.
using Values = std::vector<std::pair<std::string, std::string>>;
std::optional<Values> ValuesOf(const RunResults& run) {
  const fs::path file(run.file);
  std::string trouble;
  std::optional<RunConfig> config = ReadConfigIfThere(IsRun(file) ? file : file.parent_path(), &trouble);
  if (!config) return std::nullopt;
  Values values;
  for (const ConfigKey& key : ConfigKeys(*config)) {
    if (IsOfSetting(key.name)) values.emplace_back(key.name, key.get());
  }
  return values;
}

std::string LabelOf(const Values& values, const std::vector<bool>& differs) {
  std::string label;
  for (size_t at = 0; at < values.size(); ++at) {
    if (!differs[at]) continue;
    const auto& [key, value] = values[at];
    const bool quoted = value.size() > 1 && value.front() == '"';
    label += (label.empty() ? "" : ", ") + key.substr(key.rfind('.') + 1) + "=" +
             (quoted ? value.substr(1, value.size() - 2) : value);
  }
  return label;
}

}  // namespace

void LabelRuns(const std::vector<RunResults*>& runs) {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<RunResults*, Values>>> groups;
  for (RunResults* run : runs) {
    if (!run->label.empty()) continue;
    if (auto values = ValuesOf(*run)) groups[{run->task, run->attention}].emplace_back(run, *std::move(values));
  }
  for (auto& [name, group] : groups) {
    const Values& first = group.front().second;
    std::vector<bool> differs(first.size());
    for (const auto& [run, values] : group) {
      for (size_t at = 0; at < values.size(); ++at) differs[at] = differs[at] || values[at] != first[at];
    }
    for (auto& [run, values] : group) run->label = LabelOf(values, differs);
  }
}

}  // namespace tra::cli
