#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

AttentionOptions Options(ScoreRule rule, bool qk_norm, DropoutOn dropout_on = DropoutOn::kNone) {
  AttentionOptions options;
  options.rule = rule;
  options.qk_norm = qk_norm;
  options.stop_eps = kStopNever;
  options.dropout_on = dropout_on;
  options.dropout_p = 0.2f;
  options.seed = 0x123456789abcdefu;
  static constexpr int64_t kSequenceIds[] = {41, int64_t{1} << 33, 2, 2};  // no problem here has a larger batch
  options.sequence_ids = kSequenceIds;
  return options;
}

std::vector<AttentionOptions> AllOptions() {
  std::vector<AttentionOptions> all;
  for (const bool qk_norm : {true, false}) {
    for (const RuleInfo& info : kRules) {
      for (const auto& [name, on, changes] : kDropoutModes) {
        if (on == DropoutOn::kLogits && !info.takes_logit_dropout) continue;
        all.push_back(Options(info.rule, qk_norm, on));
      }
    }
  }
  return all;
}

TEST(Backward, MatchesReferenceOnAwkwardShapes) {
  for (const size_t length : {1, 2, 5, 17, 97, 230}) {
    for (const size_t width : {1, 8, 59, 64, 111, 128, 256}) {
      for (const AttentionOptions& options :
           {Options(ScoreRule::kThreshold, true), Options(ScoreRule::kThreshold, false),
            Options(ScoreRule::kSoftmax, false), Options(ScoreRule::kForget, false),
            Options(ScoreRule::kDistance, false), Options(ScoreRule::kContextual, false)}) {
        SCOPED_TRACE(::testing::Message() << "rule " << int(options.rule) << " T " << length << " d " << width);
        Problem problem({2, 2, length, length, width, width}, options, static_cast<uint32_t>(length * width));
        problem.layout = length % 2 ? Layout::kTokenFirst : Layout::kHeadFirst;
        ExpectMatchesReference(problem, true);
      }
    }
  }
}

TEST(Backward, MatchesReferenceOnLongRows) {
  for (const RuleInfo& info : kRules) {
    const ScoreRule rule = info.rule;
    SCOPED_TRACE(::testing::Message() << "rule " << int(rule));
    ExpectMatchesReference(Problem({1, 1, 1025, 1025, 64, 64}, Options(rule, true)), true);
  }
}

TEST(Backward, MatchesReferenceWithACachedPrefix) {
  for (const size_t queries : {1, 30, 200}) {
    for (const size_t keys : {200, 201, 590}) {
      for (const RuleInfo& info : kRules) {
        const ScoreRule rule = info.rule;
        SCOPED_TRACE(::testing::Message() << "rule " << int(rule) << " " << queries << " of " << keys);
        ExpectMatchesReference(Problem({1, 2, queries, keys, 24, 24}, Options(rule, true)), true);
      }
    }
  }
}

TEST(Backward, MatchesReferenceWithEveryOption) {
  for (const AttentionOptions& options : AllOptions()) {
    SCOPED_TRACE(::testing::Message() << "rule " << int(options.rule) << " norm " << options.qk_norm << " dropout on "
                                      << int(options.dropout_on));
    ExpectMatchesReference(Problem({2, 2, 211, 230, 40, 24}, options), true);
  }
}

// Compares the reference itself with central differences in float64, on problems without scores near 0.
TEST(BackwardReference, MatchesFiniteDifferences) {
  for (const AttentionOptions& options : AllOptions()) {
    Problem problem({1, 2, 7, 9, 5, 4}, options, 3);
    if (options.rule == ScoreRule::kThreshold) {
      for (size_t head = 0; head < 2; ++head) {
        for (size_t i = 0; i < 7; ++i) {
          for (size_t j = 0; j < 9; ++j) ASSERT_GT(std::abs(problem.Score(head, i, j)), 1e-3) << "draw another problem";
        }
      }
    }
    const Result result = problem.Reference({}, true);
    const auto loss = [&] {
      const std::vector<double> out = problem.Reference().out;
      double sum = 0;
      for (size_t i = 0; i < out.size(); ++i) sum += out[i] * problem.d_out[i];
      return sum;
    };
    const auto check = [&](const char* name, std::vector<double>& x, const std::vector<double>& d_x) {
      for (size_t i = 0; i < x.size(); ++i) {
        const double at = x[i], step = 1e-5;
        x[i] = at + step;
        const double above = loss();
        x[i] = at - step;
        const double below = loss();
        x[i] = at;
        ASSERT_NEAR((above - below) / (2 * step), d_x[i], 1e-7) << name << " " << i;
      }
    };
    check("q", problem.q, result.d_q);
    check("k", problem.k, result.d_k);
    check("v", problem.v, result.d_v);
    if (options.rule != ScoreRule::kSoftmax) check("input", problem.input, result.d_input);
  }
}

TEST(Backward, NaNInAKeyReachesNoQueryBeforeIt) {
  for (const ScoreRule rule : {ScoreRule::kThreshold, ScoreRule::kSoftmax, ScoreRule::kForget}) {
    const Problem clean({1, 1, 120, 120, 16, 16}, Options(rule, true));
    const Result want = clean.Both();
    for (const size_t key : {44, 50, 97}) {
      Problem problem = clean;
      problem.k[key * 16 + 3] = NAN;
      const Result result = problem.Both();
      for (size_t i = 0; i < key * 16; ++i) ASSERT_EQ(result.d_q[i], want.d_q[i]) << "query " << i / 16 << " " << key;
      EXPECT_TRUE(std::isnan(result.d_q[key * 16]));
    }
  }
}

TEST(Backward, InfinityBehindADroppedKeyChangesNoBit) {
  for (const double density : {0.3, 0.9}) {  // so that live rows are listed, and not
    Problem problem({1, 1, 150, 150, 32, 32}, Options(ScoreRule::kThreshold, true));
    size_t dropped = 0;
    for (size_t row = 0; row < 150; ++row) {
      const bool kept = std::fmod(static_cast<double>(row) * 0.618034, 1.0) < density;
      problem.q[row * 32] = 40;
      problem.k[row * 32] = kept ? 10 : -10;
      if (!kept && row < 100) dropped = row;
    }
    const Result want = problem.Both();
    problem.v[dropped * 32 + 5] = INFINITY;
    const Result result = problem.Both();
    EXPECT_TRUE(BitEqual(result.out, want.out) && BitEqual(result.d_q, want.d_q) && BitEqual(result.d_k, want.d_k) &&
                BitEqual(result.d_v, want.d_v))
        << density;
  }
}

TEST(Backward, NaNInAGradientReachesTheResult) {
  Problem problem({1, 1, 60, 60, 16, 16}, Options(ScoreRule::kThreshold, true));
  problem.d_out[30 * 16] = NAN;
  const Result result = problem.Both();
  EXPECT_TRUE(std::isnan(result.d_q[30 * 16]));
  EXPECT_TRUE(std::isnan(MaxAbs(result.d_v)));
  // Rows and keys that have nothing to do with query 30 stay clean.
  EXPECT_FALSE(std::isnan(result.d_q[29 * 16]));
  EXPECT_FALSE(std::isnan(result.d_v[31 * 16]));
  EXPECT_FALSE(std::isnan(result.d_k[31 * 16]));
}

}  // namespace
}  // namespace tra::testing
