#include "tra/cli/charted_run.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/cli/label_runs.h"
#include "tra/run/data.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/run/find_runs.h"
#include "tra/tasks/task.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

// Reads a file if it holds results. Other JSON files, such as env.json, stand beside them.
bool ReadEvaluation(const std::string& path, RunResults& results) {
  const std::optional<std::string> text = ReadFileIfAny(path, kMostJsonBytes);
  const auto json = ParseJsonIfAny<nlohmann::ordered_json>(text.value_or(""));
  if (!json.is_object() || json.value("format", nlohmann::ordered_json()) != "tra-results") return false;
  results = FromJson(json, path);
  return true;
}

// Adds the rows of other evaluations of a run, such as at other lengths; what results.json says counts first.
void AddEvaluations(const std::string& folder, ChartedRun& run) {
  std::vector<std::string> files;
  for (const auto& each : fs::directory_iterator(folder)) {
    if (each.path().extension() == ".json" && each.path().filename() != run_files::kResults) {
      files.push_back(each.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  std::set<std::tuple<std::string, std::string, int64_t, std::string>> known;
  for (const ResultRow& row : run.results.rows) known.emplace(row.split, row.group, row.window, row.metric);
  for (const std::string& file : files) {
    RunResults more;
    if (!ReadEvaluation(file, more) || more.task != run.results.task) continue;
    for (const ResultRow& row : more.rows) {
      if (known.emplace(row.split, row.group, row.window, row.metric).second) run.results.rows.push_back(row);
    }
  }
}

void AddLengths(const std::optional<RunConfig>& config, ChartedRun& run) {
  if (run.results.task == "text") {
    if (config) run.trained_length = config->data.window;
    run.length_unit = "tokens";
    return;
  }
  if (run.results.task.rfind("jsonl", 0) == 0) {  // only the files know how long their examples are
    run.length_unit = "tokens";
    return;
  }
  const Task& task = FindTask(run.results.task);
  run.length_unit = task.kind.length_of;
  for (const Split& split : task.splits) {
    run.split_lengths[split.name] = {split.lengths.low, split.lengths.high};
    if (split.name == std::string("train")) run.trained_length = split.lengths.high;
  }
  if (config && config->data.lengths.size() == 2) run.trained_length = config->data.lengths[1];
}

}  // namespace

std::vector<std::string> FindResults(const std::vector<std::string>& paths) {
  std::vector<std::string> files = FindFiles(paths, {run_files::kResults});
  if (files.empty()) throw std::runtime_error("no results.json there; tra train and tra sweep write them");
  return files;
}

std::vector<RunResults> ReadAllResults(const std::vector<std::string>& paths) {
  std::vector<RunResults> all;
  for (const std::string& file : FindResults(paths)) all.push_back(ReadResults(file));
  std::vector<RunResults*> runs;
  runs.reserve(all.size());
  for (RunResults& run : all) runs.push_back(&run);
  LabelRuns(runs);
  return all;
}

std::optional<RunConfig> ReadConfigIfThere(const std::string& folder, std::string* trouble) {
  if (!IsRun(folder)) return std::nullopt;
  try {
    return ReadRunConfig(folder);
  } catch (const std::invalid_argument& error) {
    *trouble = error.what();
    return std::nullopt;
  }
}

ChartedRun ReadOne(const std::string& folder) {
  ChartedRun run;
  std::string trouble = "it has no " + std::string(run_files::kConfig);
  const std::optional<RunConfig> config = ReadConfigIfThere(folder, &trouble);
  const std::string results = run_files::In(folder, run_files::kResults);
  if (fs::exists(results)) {
    run.results = ReadResults(results);
  } else if (config) {  // it is still trained, or has failed
    run.results.task = TaskName(config->data);
    run.results.attention = config->model.attention;
    run.results.label = config->label;
    run.results.seed = config->train.seed;
    run.results.file = folder;
  } else {
    throw std::runtime_error(folder + ": is not a run that can be read: it has no " + run_files::kResults + ", and " +
                             trouble);
  }
  AddLengths(config, run);
  AddEvaluations(folder, run);
  if (fs::exists(run_files::In(folder, run_files::kMetrics))) run.curves = ReadCurves(folder);
  return run;
}

std::vector<ChartedRun> ReadChartedRuns(const std::vector<std::string>& folders) {
  std::vector<ChartedRun> all;
  all.reserve(folders.size());
  for (const std::string& folder : folders) all.push_back(ReadOne(folder));
  std::vector<RunResults*> runs;
  runs.reserve(all.size());
  for (ChartedRun& run : all) runs.push_back(&run.results);
  LabelRuns(runs);
  return all;
}

}  // namespace tra::cli
