#include "tra/report/correlation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tra {
namespace {

TEST(Correlation, IsOneOnALineAndMinusOneOnAFallingOne) {
  EXPECT_DOUBLE_EQ(*Correlate({{1, 10}, {2, 20}, {4, 40}}).of_values, 1);
  EXPECT_DOUBLE_EQ(*Correlate({{1, 3}, {2, 2}, {4, 0}}).of_values, -1);
}

TEST(Correlation, OfRanksSeesOnlyTheOrder) {
  const Correlation correlation = Correlate({{1, 1}, {2, 8}, {3, 27}, {4, 64}});
  EXPECT_DOUBLE_EQ(*correlation.of_ranks, 1);
  // Worked out by hand: 104 / sqrt(5 * 2390).
  EXPECT_DOUBLE_EQ(*correlation.of_values, 104 / std::sqrt(5.0 * 2390));
  EXPECT_EQ(correlation.n, 4);
}

TEST(Correlation, EqualValuesShareARank) {
  // Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: 4.5 / sqrt(4.5 * 5).
  EXPECT_DOUBLE_EQ(*Correlate({{0, 0}, {1, 1}, {1, 2}, {2, 3}}).of_ranks, 4.5 / std::sqrt(4.5 * 5));
}

TEST(Correlation, IsNotReportedForFewerThanThreePointsOrAConstant) {
  EXPECT_FALSE(Correlate({}).of_values);
  const Correlation two = Correlate({{1, 2}, {3, 4}});
  EXPECT_EQ(two.n, 2);
  EXPECT_FALSE(two.of_values || two.of_ranks);
  EXPECT_FALSE(Correlate({{1, 5}, {2, 5}, {3, 5}}).of_values);
}

}  // namespace
}  // namespace tra
