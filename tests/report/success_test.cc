#include "tra/report/success.h"

#include <gtest/gtest.h>

#include "tests/report/runs.h"

namespace tra {
namespace {

TEST(Solved, NeedsEveryExampleOfEverySplit) {
  EXPECT_TRUE(Solved(RunOf("flipflop", "tra", 1, {Em("iid", 1), Em("sparse", 1)})).value());
  EXPECT_FALSE(Solved(RunOf("flipflop", "tra", 1, {Em("iid", 1), Em("sparse", 0.999)})).value());
  EXPECT_FALSE(Solved(RunOf("flipflop", "tra", 1, {Em("iid", 0.999), Em("sparse", 1)})).value());
}

TEST(Solved, GroupsArePartsOfASplitAndTextsHaveNothingToSolve) {
  EXPECT_TRUE(Solved(RunOf("flipflop++", "tra", 1, {Em("iid", 1), Em("iid", 0.5, "after-last")})).value());
  EXPECT_FALSE(Solved(RunOf("text", "tra", 1, {Perplexity(128, 30)})).has_value());
}

// The values were computed separately from the closed form: (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n),
// z = 1.96.
TEST(WilsonInterval, IsThatOfTheBooks) {
  const auto expect = [](int64_t hits, int64_t n, double low, double high) {
    const Interval interval = WilsonInterval(hits, n);
    EXPECT_NEAR(interval.low, low, 5e-5) << hits << " of " << n;
    EXPECT_NEAR(interval.high, high, 5e-5) << hits << " of " << n;
  };
  expect(0, 10, 0, 0.2775);
  expect(5, 10, 0.2366, 0.7634);
  expect(10, 10, 0.7225, 1);
  expect(3, 3, 0.4385, 1);
  expect(1, 1, 0.2065, 1);
}

}  // namespace
}  // namespace tra
