// Tests properties of the score rules beyond their agreement with the reference.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

Problem Draw(ScoreRule rule, AttentionShape shape = {2, 2, 150, 170, 24, 24}) {
  AttentionOptions options;
  options.rule = rule;
  options.qk_norm = false;
  return Problem(shape, options);
}

std::vector<double> PlainOutput(Problem problem) {
  problem.options.rule = ScoreRule::kSoftmax;
  problem.input.clear();
  return problem.Forward().out;
}

TEST(Forget, NothingForgottenIsPlainAttention) {
  Problem problem = Draw(ScoreRule::kForget);
  problem.SetLogGate(0);
  EXPECT_LT(MaxError(problem.Forward().out, PlainOutput(problem)), 1e-6);
}

TEST(Forget, AGateOfZeroHidesAllThatLiesBeforeIt) {
  Problem problem = Draw(ScoreRule::kForget, {1, 1, 100, 100, 16, 16});
  problem.input[60] = -INFINITY;
  Problem changed = problem;
  for (size_t i = 0; i < 60 * 16; ++i) changed.k[i] = changed.v[i] = 3;
  const std::vector<double> a = problem.Forward().out, b = changed.Forward().out;
  EXPECT_TRUE(std::equal(a.begin() + 60 * 16, a.end(), b.begin() + 60 * 16));
  EXPECT_FALSE(std::equal(a.begin(), a.begin() + 60 * 16, b.begin()));
  EXPECT_FALSE(std::isnan(MaxAbs(a)));
  const Result both = problem.Both();
  EXPECT_FALSE(std::isnan(MaxAbs(both.d_input)));
}

TEST(Forget, LongSequencesLoseNoPrecision) {
  // Sums of log gates reach -7000 here; in fp32 their differences would be off by 5e-4.
  Problem problem = Draw(ScoreRule::kForget, {1, 1, 3000, 3000, 8, 8});
  for (double& each : problem.input) each = static_cast<float>(each * 18);
  EXPECT_LT(MaxError(problem.Forward().out, problem.Reference().out), 5e-6);
}

TEST(Forget, GatesOfZeroLoseNoPrecision) {
  Problem problem = Draw(ScoreRule::kForget, {1, 2, 130, 150, 16, 16});
  for (const size_t key : {0, 30, 31, 40, 41, 43, 100, 149}) problem.input[key] = -INFINITY;
  for (const size_t key : {3, 77}) problem.input[150 + key] = -500;
  ExpectMatchesReference(problem, true);
}

TEST(Forget, TheFirstGateMattersToNothing) {
  Problem problem = Draw(ScoreRule::kForget, {1, 1, 60, 60, 8, 8});
  const Result before = problem.Both();
  problem.input[0] = NAN;
  const Result after = problem.Both();
  EXPECT_TRUE(BitEqual(before.out, after.out));
  EXPECT_EQ(after.d_input[0], 0.0);
}

TEST(Forget, NaNReachesTheRowsBehindItAndNoOther) {
  Problem problem = Draw(ScoreRule::kForget, {1, 1, 100, 100, 16, 16});
  problem.input[60] = NAN;
  const std::vector<double> out = problem.Forward().out;
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(std::isnan(out[i * 16]), i >= 60) << i;
}

TEST(Distance, ABiasThatIsTheSameEverywhereIsPlainAttention) {
  Problem problem = Draw(ScoreRule::kDistance);
  problem.SetLogGate(1.5);
  EXPECT_LT(MaxError(problem.Forward().out, PlainOutput(problem)), 1e-6);
}

TEST(Distance, BeyondTheTableTheLastBiasHolds) {
  const Problem problem = Draw(ScoreRule::kDistance);
  Problem longer = problem;
  longer.shape.table = 90;
  longer.input.assign(2 * 90, 0);
  for (size_t head = 0; head < 2; ++head) {
    for (size_t d = 0; d < 90; ++d) longer.input[head * 90 + d] = problem.input[head * 37 + std::min<size_t>(d, 36)];
  }
  EXPECT_TRUE(BitEqual(problem.Forward().out, longer.Forward().out));
}

TEST(Contextual, OpenGatesMakeABiasByDistance) {
  // Scores are so large that every gate is 1: key j of query i stands at position i - j + 1.
  Problem problem = Draw(ScoreRule::kContextual, {1, 2, 60, 60, 4, 8});
  problem.q.assign(problem.q.size(), 10);
  problem.k.assign(problem.k.size(), 10);
  const size_t table = problem.shape.table;
  Problem distance = problem;
  distance.options.rule = ScoreRule::kDistance;
  distance.shape.table = table - 1;
  distance.input.clear();
  for (size_t head = 0; head < 2; ++head) {
    for (size_t d = 0; d + 1 < table; ++d) distance.input.push_back(0.1 * static_cast<double>(d * (head + 1)));
    for (size_t i = 0; i < 60; ++i) {
      for (size_t p = 0; p < table; ++p) {
        problem.input[(head * 60 + i) * table + p] = p == 0 ? 7 : distance.input[head * (table - 1) + p - 1];
      }
    }
  }
  // Logits are about 200, or 288 in units of log2, where fp32 steps by 3e-5.
  EXPECT_LT(MaxError(problem.Forward().out, distance.Forward().out), 5e-5);
}

TEST(Contextual, NaNInAKeyReachesTheRowsThatSeeItAndNoOther) {
  Problem problem = Draw(ScoreRule::kContextual, {1, 1, 100, 100, 16, 16});
  problem.k[60 * 16] = NAN;
  const Result result = problem.Both();
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(std::isnan(result.out[i * 16]), i >= 60) << i;
  const size_t table = problem.shape.table;
  for (size_t i = 0; i < 60 * table; ++i) ASSERT_FALSE(std::isnan(result.d_input[i])) << i;
}

TEST(Rules, LogitDropoutIsRefusedWhereItHasNoMeaning) {
  for (const ScoreRule rule : {ScoreRule::kForget, ScoreRule::kDistance, ScoreRule::kContextual}) {
    Problem problem = Draw(rule);
    problem.options.dropout_on = DropoutOn::kLogits;
    problem.options.dropout_p = 0.1f;
    EXPECT_THROW(problem.Forward(), std::invalid_argument);
  }
}

TEST(Rules, EmptyOrHugeTablesAreRefused) {
  for (const ScoreRule rule : {ScoreRule::kDistance, ScoreRule::kContextual}) {
    Problem problem = Draw(rule);
    problem.shape.table = 0;
    EXPECT_THROW(problem.Forward(), std::invalid_argument);
  }
  Problem problem = Draw(ScoreRule::kContextual);
  problem.shape.table = kMaxTable + 1;
  problem.input.resize(problem.Heads() * problem.shape.queries * problem.shape.table);
  EXPECT_THROW(problem.Forward(), std::invalid_argument);
}

}  // namespace
}  // namespace tra::testing
