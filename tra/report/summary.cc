#include "tra/report/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tra {

Summary Summarize(std::vector<double> values) {
  Summary summary;
  summary.n = static_cast<int64_t>(values.size());
  if (values.empty()) return summary;
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    summary.mean = summary.min = summary.median = summary.max = std::numeric_limits<double>::quiet_NaN();
    if (values.size() > 1) summary.std = summary.mean;
    return summary;
  }
  // Sorted for the median, and so that sums do not depend on the order.
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  summary.mean = sum / n;
  summary.min = values.front();
  summary.max = values.back();
  const size_t half = values.size() / 2;
  summary.median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  if (values.size() > 1) {
    double squares = 0.0;
    for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
    summary.std = std::sqrt(squares / (n - 1));
  }
  return summary;
}

}  // namespace tra
