#include "tra/report/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tra {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Summary, DeviationIsOfASample) {
  // By hand: the mean is 5; the squared deviations sum to 9 + 1 + 1 + 9 = 20, which is divided by n - 1 = 3.
  const Summary summary = Summarize({8, 2, 6, 4});
  EXPECT_EQ(summary.n, 4);
  EXPECT_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(summary.std.value(), std::sqrt(20.0 / 3));
  EXPECT_EQ(summary.min, 2);
  EXPECT_EQ(summary.median, 5);
  EXPECT_EQ(summary.max, 8);
}

TEST(Summary, MedianOfAnOddNumberIsTheMiddleOne) { EXPECT_EQ(Summarize({9, 1, 2}).median, 2); }

TEST(Summary, OneValueHasNoDeviation) {
  const Summary summary = Summarize({0.25});
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.mean, 0.25);
  EXPECT_FALSE(summary.std.has_value());
  EXPECT_EQ(summary.median, 0.25);
}

TEST(Summary, OfNothingSaysSo) {
  EXPECT_EQ(Summarize({}).n, 0);
  EXPECT_FALSE(Summarize({}).std.has_value());
}

TEST(Summary, SmallSpreadsOnLargeMeansSurvive) {
  // A one-pass sum of squares would lose all digits: 1e9 squared has 18.
  EXPECT_DOUBLE_EQ(Summarize({1e9, 1e9 + 1, 1e9 + 2}).std.value(), 1);
}

TEST(Summary, OrderDoesNotChangeABit) {
  std::vector<double> values = {0.1, 1e17, 0.3, -1e17, 0.7};
  const Summary first = Summarize(values);
  std::sort(values.begin(), values.end());
  do {
    const Summary summary = Summarize(values);
    EXPECT_EQ(summary.mean, first.mean);
    EXPECT_EQ(summary.std, first.std);
    EXPECT_EQ(summary.median, first.median);
  } while (std::next_permutation(values.begin(), values.end()));
}

TEST(Summary, OneNanShowsEverywhere) {
  const Summary summary = Summarize({1, kNan, 3});
  EXPECT_EQ(summary.n, 3);
  for (const double value : {summary.mean, summary.std.value(), summary.min, summary.median, summary.max}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Summary, InfinityIsTheMeanOfWhatHasIt) {
  const Summary summary = Summarize({kInfinity, 30});
  EXPECT_EQ(summary.mean, kInfinity);
  EXPECT_EQ(summary.min, 30);
  EXPECT_EQ(summary.max, kInfinity);
}

}  // namespace
}  // namespace tra
