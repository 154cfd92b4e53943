#include "tra/report/run_list.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "tra/report/csv.h"
#include "tra/report/measure.h"
#include "tra/report/paper.h"
#include "tra/report/specs.h"
#include "tra/report/success.h"

namespace tra {
namespace {

bool Before(const RunResults& a, const RunResults& b) {
  const auto key = [](const RunResults& run) {
    return std::make_tuple(run.task, PaperOrder(run.attention), run.attention, run.label, run.seed, run.file);
  };
  return key(a) < key(b);
}

// Says whether a measure is listed; TitleOf gives the title of its column.
bool IsListed(const Measure& measure) { return measure.group.empty() && FindMetric(measure.metric).headline; }

std::string TitleOf(const Measure& measure) {
  return measure.window > 0 ? measure.split + " window " + std::to_string(measure.window) : measure.split;
}

}  // namespace

std::string RunListCsv(std::vector<RunResults> runs) {
  std::sort(runs.begin(), runs.end(), Before);
  std::vector<std::string> titles;  // several tasks may have a split of the same name
  for (const LineSpec& line : GenericTable(runs).lines) {
    if (!IsListed(line.measure)) continue;
    const std::string title = TitleOf(line.measure);
    if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
  }
  std::vector<std::string> header = {"task", "attention", "label", "seed", "step", "solved"};
  header.insert(header.end(), titles.begin(), titles.end());
  header.emplace_back("run");
  std::string text = CsvRow(header);
  for (const RunResults& run : runs) {
    const auto solved = Solved(run);
    std::vector<std::string> fields = {run.task,
                                       run.attention,
                                       run.label,
                                       std::to_string(run.seed),
                                       std::to_string(run.step),
                                       solved ? (*solved ? "1" : "0") : ""};
    for (const std::string& title : titles) {
      std::string value;
      for (const ResultRow& row : run.rows) {
        const Measure measure = {run.task, row.split, row.group, row.window, row.metric};
        if (IsListed(measure) && TitleOf(measure) == title) value = CsvNumber(row.value * FindMetric(row.metric).scale);
      }
      fields.push_back(value);
    }
    fields.push_back(std::filesystem::path(run.file).parent_path().filename().string());
    text += CsvRow(fields);
  }
  return text;
}

}  // namespace tra
