#include "tra/report/success.h"

#include <algorithm>
#include <cmath>

namespace tra {

std::optional<bool> Solved(const RunResults& run) {
  std::optional<bool> solved;
  for (const ResultRow& row : run.rows) {
    if (row.metric == "em" && row.group.empty()) solved = solved.value_or(true) && row.value == 1.0;
  }
  return solved;
}

Interval WilsonInterval(int64_t hits, int64_t n) {
  constexpr double kZ = 1.959963984540054;  // 95% of a normal distribution lie within this many deviations
  const auto count = static_cast<double>(n);
  const double share = static_cast<double>(hits) / count, shrink = 1 / (1 + kZ * kZ / count);
  const double centre = shrink * (share + kZ * kZ / (2 * count));
  const double half = shrink * kZ * std::sqrt(share * (1 - share) / count + kZ * kZ / (4 * count * count));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace tra
