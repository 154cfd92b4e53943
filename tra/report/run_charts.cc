#include "tra/report/run_charts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "tra/report/measure.h"
#include "tra/report/setting_lines.h"
#include "tra/report/specs.h"

namespace tra {
namespace {

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// "eval/test/128/ppl_token" is a metric, ppl_token, in a place: "test, 128".
struct MetricName {
  explicit MetricName(const std::string& name) : parts(SplitAt(name, '/')) {}

  const std::string& metric() const { return parts.back(); }
  std::string Place() const {
    if (parts.size() == 2 && parts[0] == "train") return "training";
    std::string place;
    for (size_t i = parts.size() > 2 && parts[0] == "eval" ? 1 : 0; i + 1 < parts.size(); ++i) {
      place += (place.empty() ? "" : ", ") + (IsNumber(parts[i]) ? "window " + parts[i] : parts[i]);
    }
    return place;
  }

  std::vector<std::string> parts;
};

std::string AxisTitle(const std::string& metric) {
  std::string title = TitleWithUnit(FindMetric(metric));
  if (!title.empty()) return title;
  std::string words = metric;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

Curve Scaled(Curve curve, const std::string& metric) {
  for (auto& [x, y] : curve) y *= FindMetric(metric).scale;
  return curve;
}

// Returns the y axis for panels of one metric, the same for all of them. Shares of 100 have the whole range; what
// differs by orders of magnitude is logarithmic.
Axis ValueAxis(const std::string& metric, const std::vector<Panel>& panels, std::optional<Scale> scale) {
  Axis axis;
  axis.label = AxisTitle(metric);
  std::vector<double> values;
  double low = 0, high = 0;
  for (const Panel& panel : panels) {
    for (const Series& series : panel.series) {
      for (const auto& [x, y] : series.points) values.push_back(y);
      for (const auto& [bottom, top] : series.band) {
        values.push_back(bottom);
        values.push_back(top);
      }
    }
  }
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (value > 0) low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  constexpr double kWide = 20;
  const bool percent = *FindMetric(metric).unit == '%';
  axis.scale = scale.value_or(!percent && low > 0 && high / low > kWide ? Scale::kLog10 : Scale::kLinear);
  if (percent && axis.scale == Scale::kLinear) {
    axis.low = 0;
    axis.high = 100;
    return axis;
  }
  return FitAxis(axis, values, 0.05);
}

// Gives panels the y axis of their metric. Axes that all panels have belong to the chart.
struct PanelsOfMetric {
  std::string metric;
  std::vector<Panel> panels;
};
void AddPanels(std::vector<PanelsOfMetric> by_metric, const ChartOptions& options, Chart& chart) {
  for (PanelsOfMetric& each : by_metric) {
    const Axis y = ValueAxis(each.metric, each.panels, options.y);
    if (by_metric.size() == 1) chart.y = y;
    for (Panel& panel : each.panels) {
      if (by_metric.size() > 1) panel.y = y;
      chart.panels.push_back(std::move(panel));
    }
  }
  const auto has_own = [](const Panel& panel) { return panel.x.has_value(); };
  if (chart.panels.size() == 1 && has_own(chart.panels[0])) {
    chart.x = *chart.panels[0].x;
    chart.panels[0].x.reset();
  }
  // Four panels stand better two by two.
  chart.columns = chart.panels.size() == 4 || chart.panels.size() == 2 ? 2 : 3;
}

std::string TaskPrefix(const std::vector<SettingsOfTask>& groups, const std::string& task) {
  return groups.size() > 1 ? task + ": " : "";
}

std::string TitleOf(const std::string& what, const std::vector<SettingsOfTask>& groups, const ChartOptions& options) {
  if (!options.title.empty()) return options.title;
  std::set<std::string> attentions;
  for (const SettingsOfTask& group : groups) {
    for (const Setting& setting : group.settings) attentions.insert(Column{setting.column.attention, ""}.Title());
  }
  std::string title = what;
  if (groups.size() == 1) title = groups[0].task + ": " + title;
  if (attentions.size() == 1) title += " with " + *attentions.begin();
  return title;
}

std::set<std::string> MetricsOf(const std::vector<ChartedRun>& runs) {
  std::set<std::string> names;
  for (const ChartedRun& run : runs) {
    for (const auto& [name, curve] : run.curves) names.insert(name);
  }
  return names;
}

[[noreturn]] void FailUnknown(const std::string& metric, const std::set<std::string>& names) {
  constexpr size_t kMost = 40;
  const std::vector<std::string> known(names.begin(), names.end());
  throw std::invalid_argument(known.size() > kMost
                                  ? UnknownName("metric", metric, known, "the keys of the runs' metrics.jsonl")
                                  : UnknownName("metric", metric, known));
}

// Returns what evaluations during training say first: exact match on each split, else perplexity by window, else loss.
std::vector<std::string> DefaultMetrics(const std::set<std::string>& names) {
  std::vector<std::string> chosen;
  for (const char* metric : {"em", "ppl_token"}) {
    for (const std::string& name : names) {
      const MetricName parsed(name);
      const bool whole = parsed.parts.size() == 3 || (parsed.parts.size() == 4 && IsNumber(parsed.parts[2]));
      if (parsed.parts[0] == "eval" && parsed.metric() == metric && whole) chosen.push_back(name);
    }
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const std::string& a, const std::string& b) {
    const bool a_iid = a == "eval/iid/em", b_iid = b == "eval/iid/em";
    return a_iid != b_iid ? a_iid : NaturallyBefore(a, b);  // what is like training comes first
  });
  if (chosen.empty() && names.count("train/loss") > 0) chosen.emplace_back("train/loss");
  return chosen;
}

Chart DrawCurves(const std::vector<ChartedRun>& runs, const ChartOptions& options) {
  const std::set<std::string> names = MetricsOf(runs);
  const std::vector<std::string> metrics = options.metrics.empty() ? DefaultMetrics(names) : options.metrics;
  for (const std::string& metric : metrics) {
    if (names.count(metric) == 0 && !names.empty()) FailUnknown(metric, names);
  }
  const std::vector<SettingsOfTask> groups = GroupRuns(runs);
  LineMaker maker(runs, options.band);
  std::vector<PanelsOfMetric> by_metric;
  for (const SettingsOfTask& group : groups) {
    for (const std::string& name : metrics) {
      const MetricName parsed(name);
      Panel panel = {TaskPrefix(groups, group.task) + parsed.Place(), {}};
      panel.series = maker.Lines(group, panel.title, [&](const ChartedRun& run) {
        const auto found = run.curves.find(name);
        return found == run.curves.end() ? Curve() : Scaled(found->second, parsed.metric());
      });
      if (panel.series.empty()) continue;
      if (groups.size() > 1) panel.x = Axis{"step", 0, 0, options.x.value_or(Scale::kLinear)};
      const auto same = [&](const PanelsOfMetric& each) { return each.metric == parsed.metric(); };
      const auto found = std::find_if(by_metric.begin(), by_metric.end(), same);
      if (found == by_metric.end()) {
        by_metric.push_back({parsed.metric(), {std::move(panel)}});
      } else {
        found->panels.push_back(std::move(panel));
      }
    }
  }
  Chart chart;
  const std::string what = by_metric.size() == 1 ? AxisTitle(by_metric[0].metric) + " during training" : "training";
  chart.title = TitleOf(what, groups, options);
  chart.x = {"step", 0, 0, options.x.value_or(Scale::kLinear)};
  AddPanels(std::move(by_metric), options, chart);
  chart.caption = maker.Caption();
  return chart;
}

// Returns the lengths that a row of results is about, with the name of its split, empty for iid.
std::optional<SplitLengths> LengthsOfRow(const ChartedRun& run, const ResultRow& row) {
  if (!row.group.empty() || row.window > 0) return std::nullopt;
  if (auto in_name = ReadSplitLengths(row.split)) return in_name;
  const auto named = run.split_lengths.find(row.split);
  if (named == run.split_lengths.end()) return std::nullopt;
  return SplitLengths{row.split == "iid" ? "" : row.split, named->second};
}

std::string LengthName(const Lengths& lengths) {
  return lengths.low == lengths.high ? std::to_string(lengths.low)
                                     : std::to_string(lengths.low) + "–" + std::to_string(lengths.high);
}

double MiddleOf(const Lengths& lengths) { return static_cast<double>(lengths.low + lengths.high) / 2; }

// Returns the lengths at which runs were scored on a split, without those that other ones make up, such as 51-500.
std::set<Lengths> FinestLengths(const SettingsOfTask& group, const std::string& split, const std::string& metric) {
  std::set<Lengths> all;
  for (const Setting& setting : group.settings) {
    for (const ChartedRun* run : setting.runs) {
      for (const ResultRow& row : run->results.rows) {
        const auto found = LengthsOfRow(*run, row);
        if (found && found->split == split && row.metric == metric) all.insert(found->lengths);
      }
    }
  }
  std::set<Lengths> finest;
  for (const Lengths& each : all) {
    const bool has_parts = std::count_if(all.begin(), all.end(), [&](const Lengths& other) {
                             return each.low <= other.low && other.high <= each.high;
                           }) > 2;  // itself, and two or more
    if (!has_parts) finest.insert(each);
  }
  return finest;
}

Axis LengthAxis(const std::set<Lengths>& lengths, const ChartedRun& run, std::optional<Scale> scale) {
  Axis axis;
  axis.label = "length" + (run.length_unit.empty() ? "" : ", " + run.length_unit);
  const double low = MiddleOf(*lengths.begin()), high = MiddleOf(*lengths.rbegin());
  constexpr double kWide = 20;
  axis.scale = scale.value_or(high / low >= kWide ? Scale::kLog2 : Scale::kLinear);
  for (const Lengths& each : lengths) axis.ticks.push_back({MiddleOf(each), LengthName(each)});
  std::vector<double> ends = {low, high};
  if (run.trained_length > 0) {
    const auto trained = static_cast<double>(run.trained_length);
    axis.mark = Tick{trained, "trained to " + std::to_string(run.trained_length)};
    ends.push_back(trained);
  }
  return FitAxis(axis, ends, axis.scale == Scale::kLinear ? 0.04 : 0.06);
}

Chart DrawLengths(const std::vector<ChartedRun>& runs, const ChartOptions& options) {
  const std::string metric = options.metrics.empty() ? "em" : options.metrics[0];
  const std::vector<SettingsOfTask> groups = GroupRuns(runs);
  LineMaker maker(runs, options.band);
  std::vector<Panel> panels;
  std::set<std::string> metrics;
  for (const SettingsOfTask& group : groups) {
    std::set<std::string> splits;
    for (const Setting& setting : group.settings) {
      for (const ChartedRun* run : setting.runs) {
        for (const ResultRow& row : run->results.rows) {
          const auto found = LengthsOfRow(*run, row);
          if (!found) continue;
          metrics.insert(row.metric);
          splits.insert(found->split);
        }
      }
    }
    for (const std::string& split : splits) {
      const std::set<Lengths> lengths = FinestLengths(group, split, metric);
      if (lengths.size() < 2) continue;
      Panel panel = {groups.size() > 1 ? group.task + (split.empty() ? "" : ": " + split)
                     : split.empty()   ? "like training, but for the length"
                                       : split,
                     {}};
      panel.series = maker.Lines(group, panel.title, [&](const ChartedRun& run) {
        std::map<double, double> points;
        for (const ResultRow& row : run.results.rows) {
          const auto found = LengthsOfRow(run, row);
          if (!found || found->split != split || row.metric != metric || lengths.count(found->lengths) == 0) continue;
          points.emplace(MiddleOf(found->lengths), row.value);
        }
        return Scaled({points.begin(), points.end()}, metric);
      });
      panel.x = LengthAxis(lengths, *group.settings[0].runs[0], options.x);
      if (!panel.series.empty()) panels.push_back(std::move(panel));
    }
  }
  if (!metrics.empty() && metrics.count(metric) == 0) FailUnknown(metric, metrics);
  Chart chart;
  if (panels.empty()) return chart;
  chart.title = TitleOf(AxisTitle(metric) + ", by length", groups, options);
  AddPanels({{metric, std::move(panels)}}, options, chart);
  chart.caption = maker.Caption() + " A range of lengths stands at its middle.";
  return chart;
}

Chart DrawWindows(const std::vector<ChartedRun>& runs, const ChartOptions& options) {
  const std::vector<std::string> metrics =
      options.metrics.empty() ? std::vector<std::string>{"ppl_token"} : options.metrics;
  const std::vector<SettingsOfTask> groups = GroupRuns(runs);
  LineMaker maker(runs, options.band);
  std::set<std::string> splits, known;
  std::set<double> windows;
  for (const ChartedRun& run : runs) {
    for (const ResultRow& row : run.results.rows) {
      if (row.window == 0 || !row.group.empty()) continue;
      splits.insert(row.split);
      known.insert(row.metric);
      windows.insert(static_cast<double>(row.window));
    }
  }
  Chart chart;
  if (known.empty()) return chart;
  std::vector<PanelsOfMetric> by_metric;
  for (const std::string& metric : metrics) {
    if (known.count(metric) == 0) FailUnknown(metric, known);
    std::vector<Panel> panels;
    for (const SettingsOfTask& group : groups) {
      for (const std::string& split : splits) {
        Panel panel = {TaskPrefix(groups, group.task) + split, {}};
        panel.series = maker.Lines(group, panel.title, [&](const ChartedRun& run) {
          std::map<double, double> points;
          for (const ResultRow& row : run.results.rows) {
            if (row.window == 0 || !row.group.empty() || row.split != split || row.metric != metric) continue;
            points.emplace(static_cast<double>(row.window), row.value);
          }
          return Scaled({points.begin(), points.end()}, metric);
        });
        if (!panel.series.empty()) panels.push_back(std::move(panel));
      }
    }
    by_metric.push_back({metric, std::move(panels)});
  }
  chart.title = TitleOf(AxisTitle(metrics[0]) + ", by window", groups, options);
  chart.x = {"window, tokens", 0, 0, options.x.value_or(Scale::kLog2)};
  for (const double window : windows) chart.x.ticks.push_back({window, ShortNumber(window)});
  if (!runs.empty() && runs[0].trained_length > 0 && static_cast<double>(runs[0].trained_length) <= *windows.rbegin()) {
    chart.x.mark =
        Tick{static_cast<double>(runs[0].trained_length), "trained on " + std::to_string(runs[0].trained_length)};
  }
  chart.x = FitAxis(chart.x, {windows.begin(), windows.end()});
  AddPanels(std::move(by_metric), options, chart);
  chart.caption = maker.Caption();
  return chart;
}

// Returns the positions of a group of tokens, "at 64-127", as evaluations name it.
std::optional<Lengths> PositionsOf(const std::string& group) {
  constexpr char kAt[] = "at ";
  if (group.rfind(kAt, 0) != 0) return std::nullopt;
  const std::vector<std::string> ends = SplitAt(group.substr(sizeof kAt - 1), '-');
  for (const std::string& end : ends) {
    if (!IsNumber(end) || end.size() > 15) return std::nullopt;
  }
  return Lengths{std::stoll(ends.front()), std::stoll(ends.back())};
}

Chart DrawPositions(const std::vector<ChartedRun>& runs, const ChartOptions& options) {
  const std::string metric = options.metrics.empty() ? "ppl_token" : options.metrics[0];
  const std::vector<SettingsOfTask> groups = GroupRuns(runs);
  LineMaker maker(runs, options.band);
  std::set<std::pair<std::string, int64_t>> places;  // split, window
  std::set<Lengths> positions;
  std::set<std::string> known;
  std::set<int64_t> windows;
  for (const ChartedRun& run : runs) {
    for (const ResultRow& row : run.results.rows) {
      if (const auto at = PositionsOf(row.group); at && row.window > 0) {
        known.insert(row.metric);
        windows.insert(row.window);
        positions.insert(*at);
        places.emplace(row.split, row.window);
      }
    }
  }
  Chart chart;
  if (known.empty()) return chart;
  if (known.count(metric) == 0) FailUnknown(metric, known);
  std::set<int64_t> wanted(options.windows.begin(), options.windows.end());
  if (wanted.empty()) wanted.insert(*windows.rbegin());
  for (const int64_t window : wanted) {
    if (windows.count(window) > 0) continue;
    std::string list;
    for (const int64_t each : windows) list += (list.empty() ? "" : ", ") + std::to_string(each);
    throw std::invalid_argument("no run was scored by position in windows of " + std::to_string(window) +
                                " tokens; there are windows of " + list);
  }
  std::vector<Panel> panels;
  for (const SettingsOfTask& group : groups) {
    for (const auto& [split, window] : places) {
      if (wanted.count(window) == 0) continue;
      Panel panel = {TaskPrefix(groups, group.task) + split + ", window " + std::to_string(window), {}};
      panel.series = maker.Lines(group, panel.title, [&, split = split, window = window](const ChartedRun& run) {
        std::map<double, double> points;
        for (const ResultRow& row : run.results.rows) {
          const auto at = PositionsOf(row.group);
          if (!at || row.split != split || row.window != window || row.metric != metric) continue;
          points.emplace(MiddleOf(*at) + 1, row.value);  // a logarithm has no 0
        }
        return Scaled({points.begin(), points.end()}, metric);
      });
      if (!panel.series.empty()) panels.push_back(std::move(panel));
    }
  }
  chart.title = TitleOf(AxisTitle(metric) + ", by position", groups, options);
  chart.x = {"position in the window", 0, 0, options.x.value_or(Scale::kLog2)};
  for (const Lengths& each : positions) chart.x.ticks.push_back({MiddleOf(each) + 1, LengthName(each)});
  AddPanels({{metric, std::move(panels)}}, options, chart);
  chart.caption = maker.Caption() + " A range of positions stands at its middle.";
  return chart;
}

}  // namespace

const std::vector<ChartKind>& ChartKinds() {
  static const std::vector<ChartKind> kKinds = {
      {"curves", "any number of metrics.jsonl during training", &DrawCurves,
       "the runs have no metrics.jsonl with numbers; tra train writes it"},
      {"lengths", "exact match by length", &DrawLengths,
       "none of the runs was scored at two lengths or more; tra eval RUN --lengths 300,600 --out RUN/longer.json "
       "scores "
       "a run that has checkpoints at others"},
      {"windows", "perplexity of text by window", &DrawWindows,
       "none of the runs was scored on text; tra eval RUN --windows 128,256,512 --out RUN/windows.json scores a run of "
       "data.task text"},
      {"positions", "perplexity of text by position in the window", &DrawPositions,
       "none of the runs was scored on text; tra eval RUN --windows 128,256,512 --out RUN/windows.json scores a run of "
       "data.task text"},
  };
  return kKinds;
}

std::optional<SplitLengths> ReadSplitLengths(const std::string& name) {
  const size_t space = name.rfind(' ');
  const std::string split = space == std::string::npos ? "" : name.substr(0, space);
  const std::vector<std::string> ends = SplitAt(space == std::string::npos ? name : name.substr(space + 1), '-');
  if (ends.size() != 2) return std::nullopt;
  Lengths lengths;
  const auto read = [](const std::string& text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0;
  };
  if (!read(ends[0], lengths.low) || !read(ends[1], lengths.high)) return std::nullopt;
  if (lengths.low > lengths.high) return std::nullopt;
  return SplitLengths{split, lengths};
}

}  // namespace tra
