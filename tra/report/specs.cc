#include "tra/report/specs.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <utility>

#include "tra/report/success.h"

namespace tra {
namespace {

std::vector<TableSpec> MakePaperTables() {
  const auto em = [](const char* label, const char* task, const char* split, const char* group = "") {
    return LineSpec{label, {task, split, group, 0, "em"}};
  };
  const auto solved = [](const char* label, const char* task) { return LineSpec{label, SolvedLine(task).measure}; };
  std::vector<TableSpec> tables = {
      {"table1",
       "Exact match of whole sequences in percent, higher is better",
       {em("Flip-flop IID", "flipflop", "iid"), em("Flip-flop OOD (dense)", "flipflop", "dense"),
        em("Flip-flop OOD (sparse)", "flipflop", "sparse"), solved("Flip-flop solved", "flipflop"),  //
        em("Induct IID (1-50)", "induct", "iid"), em("Induct OOD (51-100)", "induct", "51-100"),
        em("Induct OOD (101-200)", "induct", "101-200"), em("Induct OOD (201-300)", "induct", "201-300"),
        solved("Induct solved", "induct"), em("Copy IID (1-50)", "copy", "iid"),
        em("Copy OOD (51-100)", "copy", "51-100"), em("Copy OOD (101-200)", "copy", "101-200"),
        em("Copy OOD (201-300)", "copy", "201-300"), solved("Copy solved", "copy")}},
      {"table2",
       "Flip-Flop++ by instruction, lengths 51-500: exact match in percent, higher is better",
       {em("After first match", "flipflop++", "51-500", "after-first"),
        em("After last match", "flipflop++", "51-500", "after-last"),
        em("Before first match", "flipflop++", "51-500", "before-first"),
        em("Before last match", "flipflop++", "51-500", "before-last"), solved("Solved", "flipflop++")}},
      {"table3",
       "Test perplexity per token in windows of 128 tokens, lower is better",
       {{"Perplexity", {"text", "test", "", 128, "ppl_token"}}}},
      {"windows", "Test perplexity and bits by window, lower is better", {}},
  };
  for (const auto& [metric, what] : {std::pair("ppl_token", "per token"), std::pair("ppl_word", "per word"),
                                     std::pair("bits_per_byte", "bits per byte")}) {
    for (int64_t window = 128; window <= 4096; window *= 2) {
      tables.back().lines.push_back(
          {"Window " + std::to_string(window) + ", " + what, {"text", "test", "", window, metric}});
    }
  }
  return tables;
}

bool Before(const Measure& a, const Measure& b) {
  if (a.task != b.task) return NaturallyBefore(a.task, b.task);
  if (a.metric != b.metric) return a.metric < b.metric;
  if (a.split != b.split) return NaturallyBefore(a.split, b.split);
  if (a.group != b.group) return NaturallyBefore(a.group, b.group);
  return a.window < b.window;
}

std::vector<Measure> MeasuresOf(const std::vector<RunResults>& runs) {
  std::vector<Measure> measures;
  for (const RunResults& run : runs) {
    for (const ResultRow& row : run.rows) {
      measures.push_back({run.task, row.split, row.group, row.window, row.metric});
    }
  }
  std::sort(measures.begin(), measures.end(), Before);
  measures.erase(std::unique(measures.begin(), measures.end()), measures.end());
  return measures;
}

std::set<std::string> TasksToSolve(const std::vector<RunResults>& runs) {
  std::set<std::string> tasks;
  for (const RunResults& run : runs) {
    if (Solved(run)) tasks.insert(run.task);
  }
  return tasks;
}

std::string Describe(const Measure& measure) {
  std::string text = measure.task + " " + measure.split;
  if (!measure.group.empty()) text += " " + measure.group;
  if (measure.window > 0) text += ", window " + std::to_string(measure.window);
  const std::string title = TitleWithUnit(FindMetric(measure.metric));
  return text + ": " + (title.empty() ? measure.metric : title);
}

}  // namespace

bool NaturallyBefore(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    size_t a_digits = 0, b_digits = 0;
    while (i + a_digits < a.size() && digit(a[i + a_digits])) ++a_digits;
    while (j + b_digits < b.size() && digit(b[j + b_digits])) ++b_digits;
    // A number with more digits is larger; leading zeros do not occur in our names.
    if (a_digits > 0 && b_digits > 0 && a_digits != b_digits) return a_digits < b_digits;
    if (a[i] != b[j]) return a[i] < b[j];
    ++i, ++j;
  }
  return a.size() - i < b.size() - j;
}

LineSpec SolvedLine(const std::string& task) { return {"Solved", {task, "", "", 0, "solved"}}; }

const std::vector<TableSpec>& PaperTables() {
  static const std::vector<TableSpec> kTables = MakePaperTables();
  return kTables;
}

TableSpec GenericTable(const std::vector<RunResults>& runs) {
  TableSpec table = {"all", "All results", {}};
  for (const Measure& measure : MeasuresOf(runs)) table.lines.push_back({Describe(measure), measure});
  for (const std::string& task : TasksToSolve(runs))
    table.lines.push_back({task + " solved", SolvedLine(task).measure});
  return table;
}

TableSpec SolvedTable(const std::vector<RunResults>& runs) {
  TableSpec table = {"solved", "Exact match in percent by split, and runs that have 100 on all of them", {}, true};
  const std::set<std::string> tasks = TasksToSolve(runs);
  const std::vector<Measure> measures = MeasuresOf(runs);
  for (const std::string& task : tasks) {
    const std::string prefix = tasks.size() > 1 ? task + " " : "";  // left out if there is only one
    for (const Measure& measure : measures) {
      if (measure.task != task || measure.metric != "em" || !measure.group.empty()) continue;
      table.lines.push_back({prefix + measure.split, measure});
    }
    table.lines.push_back({prefix + "solved", SolvedLine(task).measure});
  }
  return table;
}

TableSpec SummaryTable(const std::string& task, const std::vector<RunResults>& runs) {
  TableSpec table = {"summary", task, {}, true};
  for (const RunResults& run : runs) {
    for (const ResultRow& row : run.rows) {  // in the order in which they were scored
      const Metric& metric = FindMetric(row.metric);
      if (run.task != task || !metric.headline || !row.group.empty()) continue;
      const LineSpec line = {row.split + (row.window > 0 ? " at " + std::to_string(row.window) : ""),
                             {task, row.split, "", row.window, row.metric}};
      const auto same = [&](const LineSpec& other) { return other.measure == line.measure; };
      if (std::any_of(table.lines.begin(), table.lines.end(), same)) continue;
      if (table.lines.empty()) table.title += ": " + TitleWithUnit(metric);
      table.lines.push_back(line);
    }
  }
  if (TasksToSolve(runs).count(task) > 0) table.lines.push_back({"solved", SolvedLine(task).measure});
  return table;
}

}  // namespace tra
