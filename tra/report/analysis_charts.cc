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

// Adds a line for each head to the panel; `value(head, at)` gives the number of a head in the analysis of this place.
template <typename Of, typename Analyses, typename X>
Panel HeadsPanel(const std::string& title, const Analysis& run, const Analyses& analyses, const X& x, const Of& value) {
  Panel panel;
  panel.title = title;
  for (size_t head = 0; head < run.heads.size(); ++head) {
    Series series;
    series.name = "head " + run.heads[head].name.Text();
    for (const auto& each : analyses) {
      if (head >= each.heads.size()) continue;  // of a length that no example has
      const std::optional<double> y = value(each.heads[head]);
      if (y) series.points.emplace_back(static_cast<double>(x(each)), *y);
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  return panel;
}

Chart EvidenceChart(const Analysis& run) {
  const bool threshold = std::any_of(run.heads.begin(), run.heads.end(), [](const auto& head) { return head.density; });
  Chart chart = ShareChart("Evidence during training", "step", threshold ? "share of pairs kept" : "mean weight");
  const auto of = [&](const PairsAnalysis& pairs) { return threshold ? pairs.kept : pairs.weight; };
  const auto step = [](const EvidenceAnalysis& each) { return each.step; };
  chart.panels = {HeadsPanel("answer -> where it can be read", run, run.evidence, step,
                             [&](const HeadEvidence& head) { return of(head.evidence); }),
                  HeadsPanel("where it can be read -> its mark", run, run.evidence, step,
                             [&](const HeadEvidence& head) { return of(head.links); })};
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
  chart.panels = {answers,
                  HeadsPanel("rows that keep the same", run, run.stretched, factor,
                             [](const HeadStretch& head) { return head.same_kept; }),
                  HeadsPanel("weight of the evidence", run, run.stretched, factor,
                             [](const HeadStretch& head) { return head.evidence.weight; })};
  chart.panels.erase(
      std::remove_if(chart.panels.begin(), chart.panels.end(), [](const Panel& panel) { return panel.series.empty(); }),
      chart.panels.end());
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
