// How a number of a run went: read from its metrics.jsonl.
#ifndef TRA_REPORT_CURVE_H_
#define TRA_REPORT_CURVE_H_

#include <string>
#include <utility>
#include <vector>

namespace tra {

// (step, value) of a metric such as "train/loss" or "eval/iid/em", by step; of several at one step the last. Values
// that are not numbers are NaN. Throws std::runtime_error that begins with the file if it cannot be read or is not JSON
// lines.
std::vector<std::pair<double, double>> ReadCurve(const std::string& run, const std::string& metric);

}  // namespace tra

#endif  // TRA_REPORT_CURVE_H_
