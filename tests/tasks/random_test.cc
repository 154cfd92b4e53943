#include "tra/tasks/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace tra {
namespace {

std::vector<uint32_t> Words(Random random, int count) {
  std::vector<uint32_t> words(static_cast<size_t>(count));
  for (uint32_t& word : words) word = random.Word();
  return words;
}

TEST(Random, IsAFunctionOfItsPlace) {
  EXPECT_EQ(Words(Random(1, 2, 3), 9), Words(Random(1, 2, 3), 9));
  const uint64_t far = uint64_t{1} << 32;  // high halves count too
  std::set<std::vector<uint32_t>> different = {Words(Random(1, 2, 3), 9),       Words(Random(2, 2, 3), 9),
                                               Words(Random(1, 3, 3), 9),       Words(Random(1, 2, 4), 9),
                                               Words(Random(1 + far, 2, 3), 9), Words(Random(1, 2, 3 + far), 9)};
  EXPECT_EQ(different.size(), 6u);
}

TEST(Random, DoesNotRepeatWithinAnExample) {
  const std::vector<uint32_t> words = Words(Random(0, 0, 0), 4000);
  // Among 4000 draws from 2^32 values, 0.002 equal pairs are expected.
  EXPECT_EQ(std::set<uint32_t>(words.begin(), words.end()).size(), words.size());
}

TEST(Random, BelowIsUniformWhereWordsDoNotDivideEvenly) {
  // The high half of a product alone, without rejection, would give the first of every three results a probability of
  // 2/4 and the others 1/4.
  constexpr uint32_t kBound = 3u << 30;
  constexpr int kDraws = 30'000;
  Random random(5, 0, 0);
  int first = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t draw = random.Below(kBound);
    ASSERT_LT(draw, kBound);
    first += draw % 3 == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, kDraws / 3.0, 4 * std::sqrt(kDraws * 2.0 / 9.0));
}

TEST(Random, BoundsBelong) {
  Random random(7, 0, 0);
  std::set<int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.Between(-1, 2));
  EXPECT_EQ(seen, (std::set<int64_t>{-1, 0, 1, 2}));
  EXPECT_EQ(random.Below(1), 0u);
  EXPECT_EQ(random.Between(5, 5), 5);
}

}  // namespace
}  // namespace tra
