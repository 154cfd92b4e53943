#include "tra/report/curve.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/report/summary.h"
#include "tra/run/files.h"

namespace tra {
namespace {

constexpr uint64_t kMostMetricsBytes = uint64_t{1} << 30;  // of a million lines and more

using Band = std::vector<std::pair<double, double>>;

// Returns the band around those at first .. end - 1; NaN if one of them is, so that no point hides it.
std::pair<double, double> Around(const Band& band, size_t first, size_t end) {
  auto [low, high] = band[first];
  for (size_t i = first + 1; i < end; ++i) {
    low = std::isnan(low) || std::isnan(band[i].first) ? std::nan("") : std::min(low, band[i].first);
    high = std::isnan(high) || std::isnan(band[i].second) ? std::nan("") : std::max(high, band[i].second);
  }
  return {low, high};
}

}  // namespace

std::map<std::string, Curve> ReadCurves(const std::string& run) {
  const std::string path = run_files::In(run, run_files::kMetrics);
  std::istringstream file(ReadFile(path, kMostMetricsBytes));
  std::map<std::string, std::map<double, double>> values;  // by metric and step
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const auto record = ParseJsonIfAny(line);
    if (!record.is_object() || !record.contains("step") || !record["step"].is_number()) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": not a line of metrics");
    }
    const auto step = record["step"].get<double>();
    for (const auto& [metric, value] : record.items()) {
      if (metric != "step" && metric != "wall_time")
        values[metric][step] = value.is_number() ? value.get<double>() : std::nan("");
    }
  }
  std::map<std::string, Curve> curves;
  for (const auto& [metric, by_step] : values) curves[metric] = {by_step.begin(), by_step.end()};
  return curves;
}

Curve ReadCurve(const std::string& run, const std::string& metric) { return ReadCurves(run)[metric]; }

CurveSummary SummarizeCurves(const std::vector<Curve>& curves) {
  std::map<double, std::vector<double>> by_step;
  for (const Curve& curve : curves) {
    for (const auto& [step, value] : curve) by_step[step].push_back(value);
  }
  CurveSummary all;
  for (const auto& [step, values] : by_step) {
    if (values.size() != curves.size()) continue;
    const Summary summary = Summarize(values);
    const double std = summary.std.value_or(0);
    all.mean.emplace_back(step, summary.mean);
    all.range.emplace_back(summary.min, summary.max);
    all.deviation.emplace_back(summary.mean - std, summary.mean + std);
  }
  return all;
}

CurveSummary ThinnedOut(const CurveSummary& summary, size_t most) {
  const size_t points = summary.mean.size();
  if (points <= most) return summary;
  const size_t each = (points + most - 1) / most;
  CurveSummary thin;
  for (size_t first = 0; first < points; first += each) {
    const size_t end = std::min(points, first + each);
    double sum = 0;
    for (size_t i = first; i < end; ++i) sum += summary.mean[i].second;
    thin.mean.emplace_back(summary.mean[end - 1].first, sum / static_cast<double>(end - first));
    thin.range.push_back(Around(summary.range, first, end));
    thin.deviation.push_back(Around(summary.deviation, first, end));
  }
  return thin;
}

}  // namespace tra
