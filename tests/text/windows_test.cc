#include "tra/text/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/text/texts.h"

namespace tra {
namespace {

std::vector<int64_t> Epoch(int64_t count, int64_t length, uint64_t seed, int64_t epoch) {
  const int64_t windows = TrainWindowsPerEpoch(count, length);
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < windows; ++i) begins.push_back(TrainWindow(count, length, seed, epoch * windows + i));
  return begins;
}

TEST(TrainWindow, AnEpochIsWindowsSideBySideEachOnce) {
  for (const int64_t length : {1, 2, 3, 7, 16, 128}) {
    for (int64_t count = length + 1; count < 12 * length + 40; count += 1 + length / 5) {
      for (const int64_t epoch : {0, 1, 5}) {
        SCOPED_TRACE(testing::Message() << count << " tokens, length " << length << ", epoch " << epoch);
        std::vector<int64_t> begins = Epoch(count, length, 1, epoch);
        std::sort(begins.begin(), begins.end());
        for (size_t i = 1; i < begins.size(); ++i) ASSERT_EQ(begins[i], begins[i - 1] + length);
        ASSERT_GE(begins.front(), 0);
        ASSERT_LE(begins.back() + length + 1, count);
        // This many tokens are left over at the two ends.
        ASSERT_LT(count - 1 - length * static_cast<int64_t>(begins.size()), 2 * length);
      }
    }
  }
}

TEST(TrainWindow, EveryTokenIsATargetInSomeEpoch) {
  for (const int64_t count : {9, 16, 31, 64, 65}) {
    std::set<int64_t> targets;
    for (int64_t epoch = 0; epoch < 200; ++epoch) {
      for (const int64_t begin : Epoch(count, 8, 3, epoch)) {
        for (int64_t i = 1; i <= 8; ++i) targets.insert(begin + i);
      }
    }
    EXPECT_EQ(targets.size(), static_cast<size_t>(count - 1)) << count;
  }
}

TEST(TrainWindow, OrderAndStartDifferByEpochAndSeedAndAreTheSameAgain) {
  const std::vector<int64_t> first = Epoch(100'000, 100, 1, 0);
  EXPECT_EQ(Epoch(100'000, 100, 1, 0), first);
  for (const auto& other : {Epoch(100'000, 100, 1, 1), Epoch(100'000, 100, 2, 0), Epoch(100'000, 100, 1ull << 32, 0)}) {
    EXPECT_NE(other[0] % 100, first[0] % 100);  // one seed in a hundred would fail this; these do not
    size_t same = 0;
    for (size_t i = 0; i < first.size(); ++i) same += other[i] / 100 == first[i] / 100 ? 1 : 0;
    EXPECT_LT(same, 10u);  // about one of 999 is expected; ten or more once in a million
  }
}

TEST(TrainWindow, KeepsItsOrderFromVersionToVersion) {
  // Resuming a run relies on these values.
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < 6; ++i) begins.push_back(TrainWindow(1'000'000, 128, 42, 1'000'000 * i));
  EXPECT_EQ(begins, (std::vector<int64_t>{889650, 849001, 105850, 585125, 512337, 531082}));
}

// Each of the six orders of three windows comes up in a sixth of the epochs.
TEST(TrainWindow, AllOrdersAreAboutAsLikely) {
  constexpr int kEpochs = 6000;
  std::map<std::vector<int64_t>, int> orders;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<int64_t> begins = Epoch(41, 10, 9, epoch);
    const int64_t first = *std::min_element(begins.begin(), begins.end());
    for (int64_t& begin : begins) begin -= first;
    ++orders[begins];
  }
  EXPECT_EQ(orders.size(), 6u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, kEpochs / 6.0, 150);  // five standard deviations are 144
}

TEST(TrainWindow, FirstWindowOfAnEpochIsAnywhere) {
  constexpr int kEpochs = 20'000;
  std::vector<int> counts(37);
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const int64_t length = 50, count = 38 * length, windows = TrainWindowsPerEpoch(count, length);
    ASSERT_EQ(windows, 37);
    const std::vector<int64_t> begins = Epoch(count, length, 5, epoch);
    ++counts[static_cast<size_t>((begins[0] - *std::min_element(begins.begin(), begins.end())) / length)];
  }
  for (const int count : counts) EXPECT_NEAR(count, kEpochs / 37.0, 120);  // five standard deviations are 115
}

TEST(TrainWindow, CountsFarBeyondWhatAnyoneTrains) {
  const int64_t count = int64_t{1} << 50, begin = TrainWindow(count, 128, 1, int64_t{1} << 60);
  EXPECT_GE(begin, 0);
  EXPECT_LE(begin + 129, count);
}

TEST(TrainWindow, RefusesTextsShorterThanAWindow) {
  EXPECT_EQ(
      FailureOf([] { TrainWindow(128, 128, 1, 0); }),
      "training windows: 128 tokens and their targets need 129 tokens, and the text has 128; use a longer text or "
      "shorter windows");
  EXPECT_EQ(TrainWindow(129, 128, 1, 7), 0);
  EXPECT_THROW(TrainWindow(129, 0, 1, 0), std::invalid_argument);
  EXPECT_THROW(TrainWindow(129, 128, 1, -1), std::invalid_argument);
}

TEST(EvalWindow, EveryTokenButTheFirstIsScoredOnceWithTheContextItIsDue) {
  for (int64_t length = 1; length <= 12; ++length) {
    for (int64_t stride = 1; stride <= length; ++stride) {
      for (int64_t count = 2; count <= 60; ++count) {
        SCOPED_TRACE(testing::Message() << count << " tokens, length " << length << ", stride " << stride);
        std::vector<int> scored(static_cast<size_t>(count));
        const int64_t windows = EvalWindowCount(count, length, stride);
        for (int64_t i = 0; i < windows; ++i) {
          const EvalWindow window = GetEvalWindow(count, length, stride, i);
          ASSERT_EQ(window.begin, i * stride);
          ASSERT_LE(window.length, length);
          ASSERT_TRUE(window.length == length || i == windows - 1);
          ASSERT_LT(window.first_scored, window.length);  // no window for nothing
          ASSERT_GE(window.first_scored, i == 0 ? 0 : length - stride);
          for (int64_t t = window.first_scored; t < window.length; ++t)
            ++scored[static_cast<size_t>(window.begin + t + 1)];
        }
        ASSERT_EQ(scored[0], 0);
        ASSERT_EQ(std::count(scored.begin(), scored.end(), 1), count - 1);
      }
    }
  }
}

TEST(EvalWindow, WithoutOverlapScoresWholeWindows) {
  EXPECT_EQ(EvalWindowCount(13, 4, 4), 3);
  for (int64_t i = 0; i < 3; ++i) {
    const EvalWindow window = GetEvalWindow(13, 4, 4, i);
    EXPECT_EQ(window.begin, 4 * i);
    EXPECT_EQ(window.length, 4);
    EXPECT_EQ(window.first_scored, 0);
  }
}

TEST(EvalWindow, RefusesStridesAndTextsThatScoreNothing) {
  EXPECT_EQ(
      FailureOf([] { EvalWindowCount(100, 8, 9); }),
      "evaluation windows: a stride of 9 with windows of 8 tokens; use a stride from 1 to the length of a window");
  EXPECT_EQ(FailureOf([] { EvalWindowCount(1, 8, 8); }),
            "evaluation windows: a text of 1 tokens has none to predict; use a longer text");
  EXPECT_THROW(EvalWindowCount(100, 8, 0), std::invalid_argument);
  EXPECT_THROW(EvalWindowCount(100, 0, 0), std::invalid_argument);
  EXPECT_THROW(GetEvalWindow(100, 8, 8, -1), std::invalid_argument);
  EXPECT_THROW(GetEvalWindow(100, 8, 8, 13), std::invalid_argument);
}

}  // namespace
}  // namespace tra
