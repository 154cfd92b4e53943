// Reads how the numbers of a run changed during training, from its metrics.jsonl.
#ifndef TRA_REPORT_CURVE_H_
#define TRA_REPORT_CURVE_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tra {

using Curve = std::vector<std::pair<double, double>>;  // (step, value), by step

// Returns (step, value) of every metric, such as "train/loss" or "eval/iid/em", by step; of several values at one step,
// the last counts. Values that are not numbers are NaN. Throws std::runtime_error that begins with the file if it
// cannot be read or is not JSON lines.
std::map<std::string, Curve> ReadCurves(const std::string& run);

// Returns one of them, empty if the run does not have it.
Curve ReadCurve(const std::string& run, const std::string& metric);

// Summarises the same number in several runs.
struct CurveSummary {
  Curve mean;
  std::vector<std::pair<double, double>> range;      // (lowest, highest) at each step of the mean
  std::vector<std::pair<double, double>> deviation;  // the mean, less and plus one standard deviation (0 for one run)
};

// Summarises curves at the steps that all of them have. A NaN makes the mean and the range of its step NaN.
CurveSummary SummarizeCurves(const std::vector<Curve>& curves);

// Returns a summary with at most `most` steps, at least 1: each is the last of as many steps that follow each other,
// with the mean of their means, and a band around all of theirs. What is not finite stays so.
CurveSummary ThinnedOut(const CurveSummary& summary, size_t most);

}  // namespace tra

#endif  // TRA_REPORT_CURVE_H_
