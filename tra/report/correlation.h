// Measures how much two numbers go together.
#ifndef TRA_REPORT_CORRELATION_H_
#define TRA_REPORT_CORRELATION_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tra {

// Holds Pearson's correlation, of the values and of their ranks (Spearman's). Both are nothing for fewer than three
// points, which always lie almost on a line, and where one of the numbers never changes.
struct Correlation {
  int64_t n = 0;
  std::optional<double> of_values, of_ranks;
};

Correlation Correlate(const std::vector<std::pair<double, double>>& points);

}  // namespace tra

#endif  // TRA_REPORT_CORRELATION_H_
