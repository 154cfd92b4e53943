// Draws, converts and numerically differentiates flat arrays, for the tests of kernels other than attention.
#ifndef TRA_TESTS_KERNELS_ARRAYS_H_
#define TRA_TESTS_KERNELS_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace tra::testing {

using Doubles = std::vector<double>;

// Returns normal doubles that hold fp32 values, so that both precisions see the same problem.
inline Doubles Draw(size_t n, uint32_t seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Doubles values(n);
  for (double& each : values) each = normal(random) * scale;
  return values;
}

template <typename T>
std::vector<T> As(const Doubles& from) {
  return std::vector<T>(from.begin(), from.end());
}

template <typename T>
Doubles Widen(const std::vector<T>& from) {
  return Doubles(from.begin(), from.end());
}

// Returns what outputs hold before a kernel runs, so that an element that it does not write shows.
template <typename T>
std::vector<T> Poison(size_t n) {
  return std::vector<T>(n, std::numeric_limits<T>::quiet_NaN());
}

inline double Dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Returns the central differences of the loss by each element of x. Truncation, h^2, and cancellation, 1e-16 / h, make
// an error of about 1e-9 for a loss of order 1 with unit derivatives.
inline Doubles FiniteDifferences(Doubles x, const std::function<double(const Doubles&)>& loss) {
  constexpr double kStep = 1e-5;
  Doubles gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + kStep;
    const double above = loss(x);
    x[i] = at - kStep;
    gradient[i] = (above - loss(x)) / (2 * kStep);
    x[i] = at;
  }
  return gradient;
}

}  // namespace tra::testing

#endif  // TRA_TESTS_KERNELS_ARRAYS_H_
