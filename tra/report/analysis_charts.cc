#include "tra/report/analysis_charts.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tra {
namespace {

Chart ShareChart(std::string title, std::string x_label, std::string y_label) {
  Chart chart;
  chart.title = std::move(title);
  chart.x.label = std::move(x_label);
  chart.y = {std::move(y_label), 0, 1};
  return chart;
}

bool HasPoints(const Chart& chart) {
  return std::any_of(chart.panels.begin(), chart.panels.end(), [](const Panel& panel) {
    return std::any_of(panel.series.begin(), panel.series.end(),
                       [](const Series& each) { return !each.points.empty(); });
  });
}

// Draws one point per head, in the colour of its layer.
Chart HeadsChart(const std::vector<Analysis>& runs) {
  Chart chart = ShareChart("Sparsity and decay of the heads", "share of keys dropped", "mean gate");
  std::map<int64_t, Series> by_layer;
  for (const Analysis& run : runs) {
    for (const HeadAnalysis& head : run.heads) {
      if (!head.density || !head.gate) continue;
      Series& series = by_layer[head.name.layer];
      series.name = "layer " + std::to_string(head.name.layer);
      series.joined = false;
      series.points.emplace_back(1 - *head.density, *head.gate);
    }
  }
  chart.panels.resize(1);
  for (auto& [layer, series] : by_layer) chart.panels[0].series.push_back(std::move(series));
  return chart;
}

// Adds a panel for each layer, with a line for each of its heads; `value` gives the number of a head, if it has it.
template <typename Analyses, typename X, typename Value>
void AddPanels(const std::string& title, const Analysis& run, const Analyses& analyses, const X& x, const Value& value,
               Chart& chart) {
  std::map<int64_t, Panel> by_layer;
  for (size_t i = 0; i < run.heads.size(); ++i) {
    const HeadName& name = run.heads[i].name;
    Series series;
    series.name = "head " + std::to_string(name.head) + (name.attention > 0 ? ", subtracted" : "");
    for (const auto& each : analyses) {
      if (i >= each.heads.size()) continue;  // of a length that no example has
      const std::optional<double> y = value(each.heads[i]);
      if (y) series.points.emplace_back(static_cast<double>(x(each)), *y);
    }
    if (series.points.empty()) continue;
    Panel& panel = by_layer[name.layer];
    panel.title = title + ", layer " + std::to_string(name.layer);
    panel.series.push_back(std::move(series));
  }
  for (auto& [layer, panel] : by_layer) chart.panels.push_back(std::move(panel));
}

Chart EvidenceChart(const Analysis& run) {
  const bool threshold = std::any_of(run.heads.begin(), run.heads.end(), [](const auto& head) { return head.density; });
  Chart chart = ShareChart("Evidence during training", "step", threshold ? "share of pairs kept" : "mean weight");
  const auto of = [&](const PairsAnalysis& pairs) { return threshold ? pairs.kept : pairs.weight; };
  const auto step = [](const EvidenceAnalysis& each) { return each.step; };
  AddPanels(
      "evidence", run, run.evidence, step, [&](const HeadEvidence& head) { return of(head.evidence); }, chart);
  AddPanels(
      "links", run, run.evidence, step, [&](const HeadEvidence& head) { return of(head.links); }, chart);
  return chart;
}

Chart StretchedChart(const Analysis& run) {
  Chart chart = ShareChart("The same examples with irrelevant tokens inserted", "times as long", "share");
  const auto factor = [](const StretchAnalysis& each) { return each.factor; };
  Panel answers;
  answers.title = "answers";
  answers.series = {{"right", {}}, {"as at first", {}}};
  for (const StretchAnalysis& each : run.stretched) {
    if (each.examples == 0) continue;
    answers.series[0].points.emplace_back(each.factor, each.right);
    answers.series[1].points.emplace_back(each.factor, each.same);
  }
  if (!answers.series[0].points.empty()) chart.panels.push_back(answers);
  AddPanels(
      "inserted kept", run, run.stretched, factor, [](const HeadStretch& head) { return head.inserted_kept; }, chart);
  AddPanels(
      "weight of the evidence", run, run.stretched, factor,
      [](const HeadStretch& head) { return head.evidence.weight; }, chart);
  return chart;
}

// Returns the last part of a path, with a number if it was used before.
std::string NameOf(const std::string& path, std::set<std::string>& used) {
  const std::string base = std::filesystem::path(path + "/").parent_path().filename().string();
  std::string name = base;
  for (int number = 2; !used.insert(name).second; ++number) name = base + "-" + std::to_string(number);
  return name;
}

}  // namespace

std::vector<NamedChart> AnalysisCharts(const std::vector<Analysis>& runs) {
  std::vector<NamedChart> charts = {{"heads", HeadsChart(runs)}};
  std::set<std::string> used;
  for (const Analysis& run : runs) {
    const std::string name = NameOf(run.run, used);
    const std::string suffix = runs.size() == 1 ? "" : "-" + name;
    for (auto [what, chart] :
         {std::pair{"evidence", EvidenceChart(run)}, std::pair{"stretched", StretchedChart(run)}}) {
      chart.title += ": " + name;
      charts.push_back({what + suffix, std::move(chart)});
    }
  }
  charts.erase(std::remove_if(charts.begin(), charts.end(), [](const auto& each) { return !HasPoints(each.chart); }),
               charts.end());
  return charts;
}

}  // namespace tra
