#include "tra/report/curve.h"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tra/report/summary.h"
#include "tra/run/files.h"

namespace tra {

Curve ReadCurve(const std::string& run, const std::string& metric) {
  const std::string path = run_files::In(run, run_files::kMetrics);
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::map<double, double> values;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const auto record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("step") || !record["step"].is_number()) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": not a line of metrics");
    }
    const auto found = record.find(metric);
    if (found == record.end()) continue;
    values[record["step"].get<double>()] = found->is_number() ? found->get<double>() : std::nan("");
  }
  return {values.begin(), values.end()};
}

CurveSummary SummarizeCurves(const std::vector<Curve>& curves) {
  std::map<double, std::vector<double>> by_step;
  for (const Curve& curve : curves) {
    for (const auto& [step, value] : curve) by_step[step].push_back(value);
  }
  CurveSummary all;
  for (const auto& [step, values] : by_step) {
    if (values.size() != curves.size()) continue;
    const Summary summary = Summarize(values);
    all.mean.emplace_back(step, summary.mean);
    all.range.emplace_back(summary.min, summary.max);
  }
  return all;
}

}  // namespace tra
