// Reads how a number of a run changed during training, from its metrics.jsonl.
#ifndef TRA_REPORT_CURVE_H_
#define TRA_REPORT_CURVE_H_

#include <string>
#include <utility>
#include <vector>

namespace tra {

using Curve = std::vector<std::pair<double, double>>;  // (step, value), by step

// Returns (step, value) of a metric such as "train/loss" or "eval/iid/em", by step; of several values at one step, the
// last counts. Values that are not numbers are NaN. Throws std::runtime_error that begins with the file if it cannot be
// read or is not JSON lines.
Curve ReadCurve(const std::string& run, const std::string& metric);

// Summarises the same number in several runs.
struct CurveSummary {
  Curve mean;
  std::vector<std::pair<double, double>> range;  // (lowest, highest) at each step of the mean
};

// Summarises curves at the steps that all of them have. A NaN makes the mean and the range of its step NaN.
CurveSummary SummarizeCurves(const std::vector<Curve>& curves);

}  // namespace tra

#endif  // TRA_REPORT_CURVE_H_
