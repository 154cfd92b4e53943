#include "tra/cli/find_runs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/run/sweep.h"
#include "tra/tasks/task.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

// Calls `found` with the path of every file below the given paths that has one of the names, and with the given files.
void Walk(const std::vector<std::string>& paths, const std::set<std::string>& names,
          const std::function<void(const std::string&)>& found) {
  for (const std::string& given : paths) {
    const std::string path = fs::path(given).extension() == ".toml" ? ReadSweep(given).folder : given;
    if (fs::is_regular_file(path)) {
      found(path);
    } else if (fs::is_directory(path)) {
      for (const auto& each : fs::recursive_directory_iterator(path)) {
        if (names.count(each.path().filename().string()) > 0) found(each.path().string());
      }
    } else {
      throw std::runtime_error(path + ": no such file or folder; check the path");
    }
  }
}

// Reads a file if it holds results. Other JSON files, such as env.json, stand beside them.
bool ReadEvaluation(const std::string& path, RunResults& results) {
  std::ifstream file(path);
  const auto json = nlohmann::ordered_json::parse(file, nullptr, /*allow_exceptions=*/false);
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
  std::vector<std::string> files;
  Walk(paths, {run_files::kResults}, [&](const std::string& file) { files.push_back(file); });
  if (files.empty()) throw std::runtime_error("no results.json there; tra train and tra sweep write them");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<RunResults> ReadAllResults(const std::vector<std::string>& paths) {
  std::vector<RunResults> all;
  for (const std::string& file : FindResults(paths)) all.push_back(ReadResults(file));
  return all;
}

std::vector<std::string> FindRuns(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  Walk(paths, {run_files::kResults, run_files::kConfig}, [&](const std::string& file) {
    const fs::path folder = fs::path(file).lexically_normal().parent_path();  // the same however it was reached
    folders.insert(folder.empty() ? "." : folder.string());
  });
  if (folders.empty()) throw std::runtime_error("no runs there; tra train and tra sweep make them");
  return {folders.begin(), folders.end()};
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

ChartedRun ReadChartedRun(const std::string& folder) {
  ChartedRun run;
  std::string trouble = "it has no " + std::string(run_files::kConfig);
  const std::optional<RunConfig> config = ReadConfigIfThere(folder, &trouble);
  const std::string results = run_files::In(folder, run_files::kResults);
  if (fs::exists(results)) {
    run.results = ReadResults(results);
  } else if (config) {  // it is still trained, or has failed
    run.results.task = config->data.task;
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

}  // namespace tra::cli
