#include "tra/report/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tra {
namespace {

constexpr size_t kFewest = 3;

std::optional<double> Pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double x_mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double y_mean = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

// Returns the rank of each value; equal values share the mean of theirs.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
    first = end;
  }
  return ranks;
}

}  // namespace

Correlation Correlate(const std::vector<std::pair<double, double>>& points) {
  Correlation correlation;
  correlation.n = static_cast<int64_t>(points.size());
  if (points.size() < kFewest) return correlation;
  std::vector<double> x, y;
  for (const auto& [each_x, each_y] : points) {
    x.push_back(each_x);
    y.push_back(each_y);
  }
  correlation.of_values = Pearson(x, y);
  correlation.of_ranks = Pearson(Ranks(x), Ranks(y));
  return correlation;
}

}  // namespace tra
