#include "tra/report/tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tra/report/success.h"

namespace tra {
namespace {

Column ColumnOf(const RunResults& run) { return {run.attention, run.label}; }

std::optional<double> FindValue(const RunResults& run, const Measure& measure) {
  if (measure == SolvedLine(run.task).measure) {
    const auto solved = Solved(run);
    return solved ? std::optional<double>(*solved ? 1.0 : 0.0) : std::nullopt;
  }
  for (const ResultRow& row : run.rows) {
    if (measure == Measure{run.task, row.split, row.group, row.window, row.metric}) return row.value;
  }
  return std::nullopt;
}

[[noreturn]] void FailDuplicate(const std::string& one_file, const RunResults& other) {
  const auto [first, second] = std::minmax(one_file, other.file);
  throw std::invalid_argument(first + " and " + second + ": both are task '" + other.task + "', attention '" +
                              other.attention + "', label '" + other.label + "', seed " + std::to_string(other.seed) +
                              "; leave one out, or tell them apart by label");
}

void MarkBest(TableLine& line) {
  const Metric& metric = FindMetric(line.measure.metric);
  if (metric.better == Better::kUnknown) return;
  std::vector<double> means;
  size_t filled = 0;
  for (const Cell& cell : line.cells) {
    if (cell.summary.n == 0) continue;
    ++filled;
    if (std::isfinite(cell.summary.mean)) means.push_back(cell.summary.mean);
  }
  if (filled < 2 || means.empty()) return;  // the best of one means nothing
  const auto [lowest, highest] = std::minmax_element(means.begin(), means.end());
  if (means.size() == filled && Printed(*lowest, metric.decimals) == Printed(*highest, metric.decimals)) {
    return;  // nor does a tie of all of them
  }
  const std::string best = Printed(metric.better == Better::kHigher ? *highest : *lowest, metric.decimals);
  for (Cell& cell : line.cells) {
    cell.best = cell.summary.n > 0 && Printed(cell.summary.mean, metric.decimals) == best;
  }
}

using Columns = std::set<Column, InPaperOrder>;

std::string ToText(const std::string& value) { return value; }
std::string ToText(int64_t value) { return std::to_string(value); }

// Says which columns have which value: "1000 (RoPE), 2000 (FoT, TRA)".
template <typename Value>
std::string WhoHasWhich(const std::map<Value, Columns>& columns_by_value) {
  std::string text;
  for (const auto& [value, columns] : columns_by_value) {
    std::string titles;
    for (const Column& column : columns) titles += (titles.empty() ? "" : ", ") + column.Title();
    text += (text.empty() ? "" : ", ") + ToText(value) + " (" + titles + ")";
  }
  return text;
}

// Adds a footnote if runs are at different steps: some stopped early, or have not ended yet.
void NoteSteps(const std::vector<const RunResults*>& runs, Table& table) {
  std::map<std::string, std::map<int64_t, Columns>> tasks;
  for (const RunResults* run : runs) tasks[run->task][run->step].insert(ColumnOf(*run));
  for (const auto& [task, steps] : tasks) {
    if (steps.size() > 1) table.footnotes.push_back(task + ": runs are at different steps: " + WhoHasWhich(steps));
  }
}

// Adds the context to the caption, or to a footnote if it differs. Perplexities under different tokenizers or strides
// are different quantities, so a table that does not say which would mislead.
void SayContext(const std::vector<const RunResults*>& runs, Table& table) {
  std::vector<std::string> keys = {"tokenizer", "stride"};
  std::set<std::string> others;
  for (const RunResults* run : runs) {
    for (const auto& [key, value] : run->context.items()) others.insert(key);
  }
  for (const std::string& key : keys) others.erase(key);
  keys.insert(keys.end(), others.begin(), others.end());
  for (const std::string& key : keys) {
    std::map<std::string, Columns> values;
    for (const RunResults* run : runs) {
      const auto found = run->context.find(key);
      const std::string value = found == run->context.end() ? "not recorded"
                                : found->is_string()        ? found->get<std::string>()
                                                            : found->dump();
      values[value].insert(ColumnOf(*run));
    }
    if (values.size() == 1) {
      table.caption += "; " + key + " " + values.begin()->first;
    } else {
      table.footnotes.push_back("numbers can be compared only with the same " + key + ": " + WhoHasWhich(values));
    }
  }
}

void SaySeeds(Table& table) {
  int64_t lowest = INT64_MAX, highest = 0;
  for (const TableLine& line : table.lines) {
    for (const Cell& cell : line.cells) {
      if (cell.summary.n == 0) continue;
      lowest = std::min(lowest, cell.summary.n);
      highest = std::max(highest, cell.summary.n);
    }
  }
  table.n_in_cells = lowest < highest;
  if (highest == 0) {
    table.caption += "; no results";
  } else if (highest == 1) {
    table.caption += "; one seed, n=1";
  } else {
    table.caption += "; mean ± std over seeds, n=";
    if (table.n_in_cells) table.caption += std::to_string(lowest) + " to ";
    table.caption += std::to_string(highest);
  }
}

void AddPaper(Table& table) {
  bool any = false, windows = false, labels = false;
  for (TableLine& line : table.lines) {
    std::vector<std::optional<PaperValue>> values;
    values.reserve(table.columns.size());
    for (size_t at = 0; at < table.columns.size(); ++at) {
      values.push_back(RepeatsAttention(table.columns, at) ? std::nullopt
                                                           : FindPaperValue(line.measure, table.columns[at].attention));
    }
    const auto there = [](const auto& value) { return value.has_value(); };
    if (std::none_of(values.begin(), values.end(), there)) continue;
    line.paper = std::move(values);
    any = true;
    windows = windows || line.measure.window > 0;
  }
  if (!any) return;
  for (const Column& column : table.columns) labels = labels || !column.label.empty();
  std::string note = "paper: mean ± std over " + std::to_string(kPaperSeeds) + " seeds as published";
  if (labels) note += ", in the first column of each attention";
  if (windows) note += "; perplexity of WikiText-103 in tokens of GPT-2";
  table.footnotes.push_back(note);
}

// Removes the lines of tasks that were not run, and those of metrics that neither the runs nor the paper have.
void RemoveEmptyLines(Table& table) {
  std::set<std::string> tasks;
  const auto has_results = [](const TableLine& line) {
    return std::any_of(line.cells.begin(), line.cells.end(), [](const Cell& cell) { return cell.summary.n > 0; });
  };
  for (const TableLine& line : table.lines) {
    if (has_results(line)) tasks.insert(line.measure.task);
  }
  const auto is_empty = [&](const TableLine& line) {
    return !has_results(line) && (line.paper.empty() || tasks.count(line.measure.task) == 0);
  };
  table.lines.erase(std::remove_if(table.lines.begin(), table.lines.end(), is_empty), table.lines.end());
}

}  // namespace

std::string Column::Title() const {
  const size_t order = PaperOrder(attention);
  const std::string name = order < kPaperAttentions.size() ? kPaperAttentions[order].title : attention;
  return label.empty() ? name : name + " (" + label + ")";
}

bool InPaperOrder::operator()(const Column& a, const Column& b) const {
  const auto key = [](const Column& column) {
    return std::make_tuple(PaperOrder(column.attention), std::cref(column.attention), std::cref(column.label));
  };
  return key(a) < key(b);
}

bool RepeatsAttention(const std::vector<Column>& columns, size_t at) {
  return at > 0 && columns[at].attention == columns[at - 1].attention;
}

void RefuseDuplicates(const std::vector<const RunResults*>& runs) {
  std::map<std::tuple<std::string, std::string, std::string, uint64_t>, std::string> files;
  for (const RunResults* run : runs) {
    const auto [known, is_new] = files.emplace(std::tie(run->task, run->attention, run->label, run->seed), run->file);
    if (!is_new) FailDuplicate(known->second, *run);
  }
}

Table BuildTable(const TableSpec& spec, const std::vector<RunResults>& runs, const TableOptions& options) {
  std::vector<const RunResults*> all;
  all.reserve(runs.size());
  for (const RunResults& run : runs) all.push_back(&run);
  RefuseDuplicates(all);
  std::map<Column, std::vector<std::vector<double>>, InPaperOrder> values;  // by column and line, for all seeds
  std::vector<const RunResults*> used, used_with_windows;
  for (const RunResults& run : runs) {
    bool is_used = false, has_windows = false;
    std::vector<std::optional<double>> found;
    for (const LineSpec& line : spec.lines) {
      found.push_back(FindValue(run, line.measure));
      // That a run solves its task says nothing beside lines of which it has none.
      is_used = is_used || (found.back() && !FindMetric(line.measure.metric).counted);
      has_windows = has_windows || (found.back() && line.measure.window > 0);
    }
    if (!is_used) continue;
    used.push_back(&run);
    auto& lines = values[ColumnOf(run)];
    lines.resize(spec.lines.size());
    for (size_t line = 0; line < spec.lines.size(); ++line) {
      if (found[line]) lines[line].push_back(*found[line] * FindMetric(spec.lines[line].measure.metric).scale);
    }
    if (has_windows) used_with_windows.push_back(&run);
  }

  Table table;
  table.name = spec.name;
  table.caption = spec.title;
  table.settings_in_rows = spec.settings_in_rows;
  for (const auto& [column, lines] : values) table.columns.push_back(column);
  for (size_t at = 0; at < spec.lines.size(); ++at) {
    TableLine line = {spec.lines[at].label, spec.lines[at].measure, {}, {}};
    for (const auto& [column, lines] : values) line.cells.push_back({Summarize(lines[at]), false});
    MarkBest(line);
    table.lines.push_back(std::move(line));
  }
  SaySeeds(table);
  if (!used_with_windows.empty()) SayContext(used_with_windows, table);
  NoteSteps(used, table);
  if (options.paper && !spec.settings_in_rows) AddPaper(table);
  if (!used.empty()) RemoveEmptyLines(table);
  return table;
}

}  // namespace tra
