#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

AttentionOptions Options(ScoreRule rule, bool qk_norm, float stop_eps) {
  AttentionOptions options;
  options.rule = rule;
  options.qk_norm = qk_norm;
  options.stop_eps = stop_eps;
  return options;
}

TEST(Decode, MatchesReference) {
  for (const size_t queries : {1, 2, 8, 9}) {  // 9 goes to the forward kernel
    for (const size_t keys : {9, 64, 513, 1300}) {
      for (const size_t width : {8, 59, 64}) {
        for (const RuleInfo& info : kRules) {
          const ScoreRule rule = info.rule;
          for (const bool qk_norm : {true, false}) {
            for (const float stop_eps : {kStopNever, kDefaultStopEps}) {
              SCOPED_TRACE(::testing::Message()
                           << "rule " << int(rule) << " " << queries << " of " << keys << " d " << width);
              const Problem problem({1, 2, queries, keys, width, width}, Options(rule, qk_norm, stop_eps),
                                    static_cast<uint32_t>(queries * keys + width));
              // Scores are summed in another order than in the tiles, so the mask may differ where |S| is tiny; with
              // these seeds it does not.
              EXPECT_LT(MaxError(problem.Decode().out, problem.Reference().out), 5e-6);
            }
          }
        }
      }
    }
  }
}

TEST(Decode, BitEqualOverWorkers) {
  // There is one head: several workers split its keys, a single one does not.
  for (const float stop_eps : {kStopNever, kDefaultStopEps, 1e-3f}) {
    for (const double gate : {0.5, 0.99, 0.9999}) {
      Problem problem({1, 1, 2, 5000, 64, 64}, Options(ScoreRule::kThreshold, true, stop_eps));
      problem.SetLogGate(static_cast<float>(std::log(gate)));
      const std::vector<double> alone = problem.Decode(1).out;
      for (const size_t workers : {2, 3, 7}) {
        EXPECT_TRUE(BitEqual(alone, problem.Decode(workers).out)) << workers << " workers, gate " << gate;
      }
    }
  }
}

TEST(Decode, StopsWithinItsBound) {
  for (const float eps : {1e-2f, 1e-4f}) {
    Problem problem({1, 1, 1, 4000, 64, 64}, Options(ScoreRule::kThreshold, true, eps));
    problem.SetLogGate(static_cast<float>(std::log(0.95)));
    EXPECT_LT(MaxError(problem.Decode().out, problem.Reference().out), 2 * eps * MaxAbs(problem.v) + 2e-6);
  }
}

TEST(Decode, RowsThatKeepNothingAreZero) {
  Problem problem({1, 1, 1, 1500, 16, 16}, Options(ScoreRule::kThreshold, true, kDefaultStopEps));
  for (double& each : problem.q) each = -std::abs(each) - 0.1;
  for (double& each : problem.k) each = std::abs(each) + 0.1;
  EXPECT_EQ(MaxAbs(problem.Decode().out), 0.0);
  // A single kept key at the far end determines the whole result.
  for (size_t c = 0; c < 16; ++c) problem.k[c] = -1;
  EXPECT_LT(MaxError(problem.Decode().out, std::vector<double>(problem.v.begin(), problem.v.begin() + 16)), 1e-6);
}

TEST(Decode, RefusesDropout) {
  AttentionOptions options;
  options.dropout_on = DropoutOn::kLogits;
  options.dropout_p = 0.1f;
  EXPECT_THROW(Problem({1, 1, 1, 4, 8, 8}, options).Decode(), std::invalid_argument);
}

}  // namespace
}  // namespace tra::testing
