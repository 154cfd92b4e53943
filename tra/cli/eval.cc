// tra eval: scores a run's model on any split and at any length.
#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tra/base/atomic_file.h"
#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/cli/task_options.h"
#include "tra/cli/whole_number.h"
#include "tra/eval/evaluate.h"
#include "tra/report/aligned_table.h"
#include "tra/report/measure.h"
#include "tra/run/checkpoints.h"
#include "tra/run/loaded_run.h"

namespace tra::cli {
namespace {

struct Request {
  std::string run, text_split, out, device, step;
  std::vector<std::string> splits, lengths;
  std::vector<int64_t> windows;
  int64_t examples = 0, stride = 0;
  bool json = false, details = false;
  int threads = 0;
};

// Results have one row for each split, length and window.
template <typename T>
void RequireOnce(const char* option, const std::vector<T>& values) {
  if (std::set<T>(values.begin(), values.end()).size() == values.size()) return;
  throw std::invalid_argument(std::string(option) + " names one twice; leave one of them out");
}

std::string TitleOf(const ResultRow& row) {
  std::string title = row.split;
  if (row.window > 0) title += " at " + std::to_string(row.window);
  if (!row.group.empty()) title += ", " + row.group;
  return title;
}

// Collects the cells of a table in which every row may have other columns.
class Cells {
 public:
  void Put(const std::string& row, const std::string& column, const std::string& text) {
    if (cells_.find(row) == cells_.end()) rows_.push_back(row);
    if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) columns_.push_back(column);
    cells_[row][column] = text;
  }

  // Appends the columns on the right of a table whose rows begin with their names, and whose first row has the titles.
  void AppendTo(std::vector<std::vector<std::string>>& table) const {
    for (std::vector<std::string>& line : table) {
      const auto row = cells_.find(line.front());
      for (const std::string& column : columns_) {
        const bool found = row != cells_.end() && row->second.count(column) > 0;
        line.push_back(&line == &table.front() ? column : found ? row->second.at(column) : "");
      }
    }
  }

  const std::vector<std::string>& rows() const { return rows_; }

 private:
  std::vector<std::string> rows_, columns_;  // in the order of appearance
  std::map<std::string, std::map<std::string, std::string>> cells_;
};

// Prints a table with a line for each split, group and window: first the scores, then how many they are means of.
void PrintRows(const std::vector<ResultRow>& rows, bool details, Output& out) {
  Cells scores, counts;
  for (const ResultRow& row : rows) {
    const bool by_position = row.window > 0 && !row.group.empty();
    if (!details && (row.metric == "loss" || by_position)) continue;
    const Metric& metric = FindMetric(row.metric);
    scores.Put(TitleOf(row), row.metric, ShownValue(metric, row.value) + metric.unit);
    if (*metric.of != '\0') counts.Put(TitleOf(row), metric.of, std::to_string(row.n));
  }
  std::vector<std::vector<std::string>> table = {{"split"}};
  for (const std::string& row : scores.rows()) table.push_back({row});
  scores.AppendTo(table);
  counts.AppendTo(table);
  out.Write(AlignedTable(table));
}

// Returns the steps to score; nothing stands for the newest sound checkpoint.
std::vector<std::optional<int64_t>> StepsToScore(const Request& request) {
  if (request.step.empty()) return {std::nullopt};
  std::vector<std::optional<int64_t>> steps;
  if (request.step == "all") {
    for (const Checkpoint& each : ListCheckpoints(request.run)) steps.insert(steps.begin(), each.step);
    if (steps.empty()) throw std::runtime_error(request.run + ": has no checkpoint yet");
    return steps;
  }
  int64_t step = 0;
  const char* const end = request.step.data() + request.step.size();
  const auto [at, error] = std::from_chars(request.step.data(), end, step);
  if (error != std::errc() || at != end || step < 0) {
    throw std::invalid_argument("--step must be the step of a checkpoint, or all, got '" + request.step + "'");
  }
  return {step};
}

// Returns what to score, after checking what otherwise only the end would refuse.
EvaluateOptions MakeOptions(const Request& request, const RunData& data, std::vector<Range>& lengths) {
  EvaluateOptions options;
  options.most = request.examples;
  options.splits = request.splits;
  options.text_split = request.text_split;
  options.windows = request.windows;
  if (request.stride > 0) options.stride = request.stride;
  if (data.IsText()) {
    if (!request.lengths.empty() || !request.splits.empty()) {
      throw std::invalid_argument("--lengths and --split are for tasks; use --windows and --text for text");
    }
  } else if (!request.windows.empty() || !request.text_split.empty() || request.stride > 0) {
    throw std::invalid_argument("--windows, --text and --stride are for text; use --lengths and --split for tasks");
  }
  std::vector<std::pair<int64_t, int64_t>> seen;
  for (const std::string& each : request.lengths) {
    lengths.push_back(ParseLengths(each));
    seen.emplace_back(lengths.back().low, lengths.back().high);
  }
  RequireOnce("--lengths", seen);
  RequireOnce("--split", request.splits);
  RequireOnce("--windows", request.windows);
  if (!lengths.empty() && options.splits.empty()) options.splits = {"iid"};
  options.progress = [](const std::string& what) { std::cerr << "tra: scoring " << what << "\n"; };
  return options;
}

RunResults Score(const LoadedRun& run, const RunData& data, EvaluateOptions options,
                 const std::vector<Range>& lengths) {
  if (lengths.empty()) {
    return MakeResults(run.config, data, run.step, Evaluate(*run.model, data, run.config, options), options);
  }
  std::vector<ResultRow> rows;
  for (const Range& each : lengths) {
    options.lengths = each;
    for (ResultRow& row : Evaluate(*run.model, data, run.config, options)) rows.push_back(std::move(row));
  }
  return MakeResults(run.config, data, run.step, rows, options);
}

void RunEval(const Request& request) {
  const std::vector<std::optional<int64_t>> steps = StepsToScore(request);
  if (!request.out.empty() && request.step == "all") {
    throw std::invalid_argument("--out holds the results of one step; with --step all use --json > FILE");
  }
  if (!request.out.empty()) AtomicFile(request.out);  // throws now, rather than after the work, if it cannot be written
  SetUpComputing(request.threads);
  const at::Device device = UseDevice(request.device);
  std::optional<RunData> data;
  std::vector<Range> lengths;
  EvaluateOptions options;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  Output out("");
  for (const std::optional<int64_t>& step : steps) {
    const LoadedRun run = LoadRun(request.run, device, PrintWarning, step);
    if (!data) {
      data.emplace(run.config, PrintWarning);
      options = MakeOptions(request, *data, lengths);
    }
    const RunResults results = Score(run, *data, options, lengths);
    if (!request.out.empty()) WriteResults(request.out, results);
    all.push_back(ToJson(results));
    if (request.json) continue;
    if (steps.size() > 1) out.Line("step " + std::to_string(run.step));
    PrintRows(results.rows, request.details, out);
    out.Flush();
  }
  if (request.json) out.Line((request.step == "all" ? all : all.front()).dump(2));
  out.Finish();
}

}  // namespace

void AddEval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Score the model of a run: exact match, or perplexity by window");
  auto request = std::make_shared<Request>();
  command->add_option("run", request->run, "folder of the run")->required();
  command->add_option("--split", request->splits, "splits of the task; all but train by default")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--lengths", request->lengths, "score examples of these lengths instead: 300, or 301-400,401-500")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--examples", request->examples, "examples per split; eval.examples by default")
      ->check(WholeNumber(1, kMostExamples));
  command->add_option("--text", request->text_split, "text to score: train, valid or test");
  command->add_option("--windows", request->windows, "context lengths for text: 128,4096")
      ->check(WholeNumber(1, kMostPositions))
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--stride", request->stride,
                   "tokens between the starts of windows; the length of a window by default")
      ->check(WholeNumber(1, kMostPositions));
  command->add_option("--step", request->step,
                      "score the checkpoint of this step (0: before training), or all; the newest by default");
  command->add_flag("--details", request->details, "also print losses; for text, also perplexity and loss by position");
  command->add_flag("--json", request->json, "print JSON like results.json, for programs");
  command->add_option("--out", request->out, "also write results to this file");
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer(
      "Examples: tra eval runs/copy-tra-s1 --lengths 100,300 --examples 500\n"
      "          tra eval runs/copy-tra-s1 --step all --split iid");
  command->callback([request] { RunEval(*request); });
}

}  // namespace tra::cli
