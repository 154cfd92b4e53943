#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/problem.h"
#include "tra/kernels/dropout_draws.h"

namespace tra::testing {
namespace {

// Compares with the known answers published with the Random123 library.
TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Dropout, RateIsWithinFourSigma) {
  for (const float p : {0.01f, 0.3f}) {
    size_t dropped = 0;
    constexpr size_t kSide = 600;
    for (size_t i = 0; i < kSide; ++i) {
      for (size_t j = 0; j < kSide; ++j) dropped += Dropped(42, p, 3, i, j);
    }
    const double n = kSide * kSide;
    EXPECT_NEAR(static_cast<double>(dropped), n * p, 4 * std::sqrt(n * p * (1 - p))) << p;
  }
  EXPECT_EQ(DropoutThreshold(0.0f), 0u);
  EXPECT_EQ(DropoutThreshold(1e-9f), 1u);
  EXPECT_EQ(DropoutThreshold(0.5f), 32768u);
}

TEST(Dropout, DependsOnSeedHeadQueryAndKey) {
  const auto row = [](uint64_t seed, size_t head, size_t position) {
    std::vector<uint32_t> bits;
    for (size_t j = 0; j < 64; ++j) bits.push_back(DropoutBits(seed, head, position, j));
    return bits;
  };
  const std::vector<uint32_t> base = row(1, 2, 3);
  EXPECT_NE(base, row(2, 2, 3));
  EXPECT_NE(base, row(1 | (uint64_t{1} << 40), 2, 3));
  EXPECT_NE(base, row(1, 3, 3));
  EXPECT_NE(base, row(1, 2, 4));
}

// Compares every pair of the kernel's own mask, seen through one-hot values.
TEST(Dropout, KernelDropsTheDocumentedPlaces) {
  AttentionOptions options;
  options.rule = ScoreRule::kSoftmax;
  options.dropout_on = DropoutOn::kWeights;
  options.dropout_p = 0.25f;
  options.seed = 99;
  const std::vector<int64_t> sequence_ids = {8, int64_t{1} << 35};
  options.sequence_ids = sequence_ids.data();
  const std::vector<uint64_t> seeds = {SeedOf(99, 8), SeedOf(99, uint64_t{1} << 35)};
  Problem problem({2, 2, 101, 120, 8, 120}, options);
  problem.v.assign(problem.v.size(), 0);
  for (size_t head = 0; head < 4; ++head) {
    for (size_t j = 0; j < 120; ++j) problem.v[(head * 120 + j) * 120 + j] = 1;
  }
  const std::vector<double> out = problem.Forward().out;
  for (size_t head = 0; head < 4; ++head) {
    for (size_t i = 0; i < 101; ++i) {
      for (size_t j = 0; j <= 19 + i; ++j) {
        ASSERT_EQ(out[(head * 101 + i) * 120 + j] == 0, Dropped(seeds[head / 2], 0.25f, head % 2, 19 + i, j))
            << head << i << j;
      }
    }
  }
}

TEST(Dropout, OffMeansOff) {
  AttentionOptions none;
  AttentionOptions zero;
  zero.dropout_on = DropoutOn::kLogits;
  EXPECT_TRUE(
      BitEqual(Problem({1, 1, 50, 50, 8, 8}, none).Forward().out, Problem({1, 1, 50, 50, 8, 8}, zero).Forward().out));
}

}  // namespace
}  // namespace tra::testing
