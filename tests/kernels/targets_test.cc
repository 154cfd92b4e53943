// Tests attention on every SIMD target that was compiled and that this machine can run, not only the best.
#include "tra/kernels/targets.h"

#include <gtest/gtest.h>

#include "tests/kernels/every_target.h"
#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

TEST_P(EveryTarget, MatchesReference) {
  for (const RuleInfo& info : kRules) {
    const ScoreRule rule = info.rule;
    for (const bool qk_norm : {true, false}) {
      for (const auto& [name, on, changes] : kDropoutModes) {
        if (on == DropoutOn::kLogits && !info.takes_logit_dropout) continue;
        AttentionOptions options;
        options.rule = rule;
        options.qk_norm = qk_norm;
        options.dropout_on = on;
        options.dropout_p = 0.1f;
        for (const size_t width : {7, 64}) {
          Problem problem({1, 2, 210, 251, width, 33}, options);
          problem.layout = Layout::kTokenFirst;
          ExpectMatchesReference(problem, true);
        }
      }
      AttentionOptions options;
      options.rule = rule;
      options.qk_norm = qk_norm;
      const Problem decode({1, 2, 2, 700, 37, 20}, options);
      EXPECT_LT(MaxError(decode.Decode().out, decode.Reference().out), 5e-6);
    }
  }
}

TEST_P(EveryTarget, StopsWithinTheBound) {
  for (const DropoutMode& mode : kDropoutModes) {
    AttentionOptions options;
    options.dropout_on = mode.value;
    options.dropout_p = mode.value == DropoutOn::kNone ? 0.0f : 0.1f;
    Problem problem({1, 1, 500, 500, 24, 24}, options);
    problem.SetLogGate(-0.7f);
    EXPECT_GT(problem.Forward().first_key.back(), 0) << mode.name;
    ExpectMatchesReference(problem, true);
  }
}

TRA_ON_EVERY_TARGET(EveryTarget);

}  // namespace
}  // namespace tra::testing
