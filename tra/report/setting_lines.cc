#include "tra/report/setting_lines.h"

#include <algorithm>
#include <cmath>

#include "tra/report/series_style.h"

namespace tra {
namespace {

// More points than a chart has pixels make files large and show nothing.
constexpr size_t kMostPoints = 250;

Column ColumnOf(const ChartedRun& run) { return {run.results.attention, run.results.label}; }

const std::vector<std::pair<double, double>>& BandOf(const CurveSummary& summary, Band band) {
  return band == Band::kRange ? summary.range : summary.deviation;
}

}  // namespace

std::vector<SettingsOfTask> GroupRuns(const std::vector<ChartedRun>& runs) {
  std::vector<const RunResults*> results;
  results.reserve(runs.size());
  for (const ChartedRun& run : runs) results.push_back(&run.results);
  RefuseDuplicates(results);
  std::map<std::string, std::map<Column, std::vector<const ChartedRun*>, InPaperOrder>> tasks;
  for (const ChartedRun& run : runs) tasks[run.results.task][ColumnOf(run)].push_back(&run);
  std::vector<SettingsOfTask> groups;
  for (const auto& [task, settings] : tasks) {
    groups.push_back({task, {}});
    for (const auto& [column, of] : settings) groups.back().settings.push_back({column, of});
  }
  return groups;
}

LineMaker::LineMaker(const std::vector<ChartedRun>& runs, Band band) : band_(band) {
  std::set<Column, InPaperOrder> columns;
  std::set<std::string> attentions;
  for (const ChartedRun& run : runs) {
    columns.insert(ColumnOf(run));
    attentions.insert(run.results.attention);
  }
  one_attention_ = attentions.size() == 1;
  if (band_ == Band::kAuto) band_ = columns.size() <= kSeriesStyles ? Band::kRange : Band::kNone;
  // An attention looks the same in all charts, unless settings must be told apart.
  size_t next = 0;
  for (const Column& column : columns) {
    const size_t own = StyleOfAttention(column.attention);
    styles_[NameOf(column)] = columns.size() == attentions.size() ? own : next;
    ++next;
  }
}

std::string LineMaker::NameOf(const Column& column) const {
  return one_attention_ && !column.label.empty() ? column.label : column.Title();
}

std::vector<Series> LineMaker::Lines(const SettingsOfTask& of, const std::string& where,
                                     const std::function<Curve(const ChartedRun&)>& curve_of) {
  std::vector<Series> lines;
  for (const Setting& setting : of.settings) {
    std::vector<Curve> curves;
    for (const ChartedRun* run : setting.runs) {
      curves.push_back(curve_of(*run));
      if (curves.back().empty()) curves.pop_back();
    }
    if (curves.empty()) continue;
    const CurveSummary all = SummarizeCurves(curves);
    const std::string name = NameOf(setting.column);
    std::string place = where;
    place.append(where.empty() ? "" : ", ").append(name);
    if (all.mean.empty()) {
      notes_.push_back(place + ": its runs have no place in common");
      continue;
    }
    double last = 0;
    for (const Curve& curve : curves) last = std::max(last, curve.back().first);
    if (all.mean.back().first < last) {
      notes_.push_back(place + ": drawn up to " + ShortNumber(all.mean.back().first) +
                       ", the last that all of its runs have");
    }
    seeds_.insert(curves.size());
    const CurveSummary shown = ThinnedOut(all, kMostPoints);
    thinned_ = thinned_ || shown.mean.size() < all.mean.size();
    Series line = {name, shown.mean, {}, styles_.at(name)};
    if (band_ != Band::kNone && curves.size() > 1) line.band = BandOf(shown, band_);
    for (const auto& [x, y] : line.points) not_finite_ = not_finite_ || !std::isfinite(y);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string LineMaker::Caption() const {
  if (seeds_.empty()) return "";
  std::string text;
  if (*seeds_.rbegin() == 1) {
    text = "One seed each.";
  } else {
    text = "Lines: mean over seeds";
    if (band_ == Band::kRange) text += "; bands: from the lowest to the highest seed";
    if (band_ == Band::kDeviation) text += "; bands: one standard deviation around the mean";
    text += "; n=" + std::to_string(*seeds_.begin());
    if (seeds_.size() > 1) text += " to " + std::to_string(*seeds_.rbegin());
    text += ".";
  }
  if (thinned_) text += " Each point is the mean of several steps, its band around all of them.";
  if (not_finite_) text += " At the top, NaN or ∞: the mean there is not a number, or infinite.";
  for (const std::string& note : notes_) text += " " + note + ".";
  return text;
}

}  // namespace tra
