// tra eval: scores a run's model on any split and at any length.
#include <CLI/App.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/cli/task_options.h"
#include "tra/cli/whole_number.h"
#include "tra/eval/evaluate.h"
#include "tra/report/aligned_table.h"
#include "tra/report/measure.h"
#include "tra/run/loaded_run.h"

namespace tra::cli {
namespace {

struct Request {
  std::string run, text_split, out, device;
  std::vector<std::string> splits, lengths;
  std::vector<int64_t> windows;
  int64_t examples = 0, stride = 0;
  bool json = false, details = false;
  int threads = 0;
};

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

void RunEval(const Request& request) {
  SetUpComputing(request.threads);
  const LoadedRun run = LoadRun(request.run, UseDevice(request.device), PrintWarning);
  const RunData data(run.config, PrintWarning);
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
  options.progress = [](const std::string& what) { std::cerr << "tra: scoring " << what << "\n"; };
  std::vector<ResultRow> rows;
  if (request.lengths.empty()) {
    rows = Evaluate(*run.model, data, run.config, options);
  } else {
    if (options.splits.empty()) options.splits = {"iid"};
    for (const std::string& each : request.lengths) {
      options.lengths = ParseLengths(each);
      for (ResultRow& row : Evaluate(*run.model, data, run.config, options)) rows.push_back(std::move(row));
    }
  }
  const RunResults results = MakeResults(run.config, data, run.step, rows, options);
  if (!request.out.empty()) WriteResults(request.out, results);
  Output out("");
  if (request.json) {
    out.Line(ToJson(results).dump(2));
  } else {
    PrintRows(rows, request.details, out);
  }
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
  command->add_flag("--details", request->details, "also print losses; for text, also perplexity and loss by position");
  command->add_flag("--json", request->json, "print JSON like results.json, for programs");
  command->add_option("--out", request->out, "also write results to this file");
  AddThreadsOption(*command, request->threads);
  AddDeviceOption(*command, request->device);
  command->footer("Example: tra eval runs/copy-tra-s1 --lengths 100,300 --examples 500");
  command->callback([request] { RunEval(*request); });
}

}  // namespace tra::cli
