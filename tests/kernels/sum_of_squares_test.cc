#include "tra/kernels/sum_of_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tra {
namespace {

std::vector<float> Draw(size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& each : x) each = normal(random);
  return x;
}

TEST(SumOfSquares, MatchesExtendedPrecisionOnAnyLength) {
  Serial serial;
  for (const size_t n : {0, 1, 7, 16, 17, 32768, 32769, 1000003}) {
    const std::vector<float> x = Draw(n), y = Draw(n / 2);
    long double want = 0;
    for (const std::vector<float>* array : {&x, &y}) {
      for (const float each : *array) want += static_cast<long double>(each) * each;
    }
    // A product of two floats is exact in float64, and a million additions are off by at most 1e6 * 2^-53.
    EXPECT_NEAR(SumOfSquares({{x.size(), x.data()}, {y.size(), y.data()}}, serial), static_cast<double>(want),
                1e-10 * static_cast<double>(want));
  }
}

TEST(SumOfSquares, WorkersDoNotChangeBits) {
  const std::vector<float> x = Draw(1000003);
  Serial serial;
  const double one = SumOfSquares({{x.size(), x.data()}}, serial);
  for (const size_t workers : {2, 5}) {
    ThreadPool pool(workers);
    EXPECT_EQ(SumOfSquares({{x.size(), x.data()}}, pool), one);
  }
}

TEST(SumOfSquares, OnlyWhatIsNotFiniteGivesWhatIsNotFinite) {
  Serial serial;
  std::vector<float> x(100, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(SumOfSquares({{x.size(), x.data()}}, serial)));
  for (const size_t at : {0, 99}) {
    x[at] = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(std::isinf(SumOfSquares({{x.size(), x.data()}}, serial)));
    x[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(SumOfSquares({{x.size(), x.data()}}, serial)));
    x[at] = 1.0f;
  }
}

}  // namespace
}  // namespace tra
