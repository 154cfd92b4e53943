#include "tra/train/spikes.h"

#include <gtest/gtest.h>

#include <vector>

namespace tra {
namespace {

// Returns the steps at which a spike is noticed.
std::vector<int64_t> Noticed(double factor, const std::vector<double>& losses) {
  Spikes spikes(factor);
  double mean = 0;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < losses.size(); ++i) {
    if (spikes.Notice(static_cast<int64_t>(i) + 1, losses[i], mean)) steps.push_back(static_cast<int64_t>(i) + 1);
  }
  return steps;
}

TEST(Spikes, AJumpIsNoticedOnceThoughItLasts) {
  std::vector<double> losses(100, 0.5);
  losses.insert(losses.end(), 20, 5.0);
  losses.insert(losses.end(), 200, 0.5);
  losses.push_back(9.0);
  EXPECT_EQ(Noticed(3, losses), (std::vector<int64_t>{101, 321}));
}

TEST(Spikes, TheFirstStepsAndSmallLossesAreLeftAlone) {
  std::vector<double> early(20, 0.5);
  early.push_back(5.0);
  EXPECT_TRUE(Noticed(3, early).empty());
  std::vector<double> solved(100, 0.002);
  solved.push_back(0.05);
  EXPECT_TRUE(Noticed(3, solved).empty());
}

TEST(Spikes, ZeroNoticesNone) {
  std::vector<double> losses(100, 0.5);
  losses.push_back(50.0);
  EXPECT_TRUE(Noticed(0, losses).empty());
  EXPECT_EQ(Noticed(3, losses).size(), 1U);
}

}  // namespace
}  // namespace tra
