// Tests the early stop: what it may change, when it happens, and that the backward follows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

AttentionOptions Stop(float eps, bool qk_norm = true, DropoutOn dropout_on = DropoutOn::kNone) {
  AttentionOptions options;
  options.stop_eps = eps;
  options.qk_norm = qk_norm;
  options.dropout_on = dropout_on;
  options.dropout_p = 0.05f;
  options.seed = 7;
  return options;
}

Problem Long(const AttentionOptions& options, double gate) {
  Problem problem({1, 2, 800, 900, 32, 32}, options);
  problem.SetLogGate(static_cast<float>(std::log(gate)));
  return problem;
}

bool AnyStopped(const Result& result) {
  return std::any_of(result.first_key.begin(), result.first_key.end(), [](int32_t key) { return key > 0; });
}

TEST(Stop, ChangesNoMoreThanItsBound) {
  for (const bool qk_norm : {true, false}) {
    for (const auto& [name, on, changes] : kDropoutModes) {
      for (const float eps : {1e-2f, 1e-4f, kDefaultStopEps}) {
        SCOPED_TRACE(::testing::Message() << "norm " << qk_norm << " dropout " << int(on) << " eps " << eps);
        const Problem stopping = Long(Stop(eps, qk_norm, on), 0.8);
        const Problem walking = Long(Stop(kStopNever, qk_norm, on), 0.8);
        const Result stopped = stopping.Both(), whole = walking.Both();
        EXPECT_TRUE(AnyStopped(stopped));
        EXPECT_FALSE(AnyStopped(whole));
        // Weight dropout multiplies kept weights, and so the bound, by 1 / (1 - p); 2e-6 is fp32 rounding.
        const double bound = 2 * eps / 0.95 * MaxAbs(stopping.v) + 2e-6;
        EXPECT_LT(MaxError(stopped.out, whole.out), bound);
        // Each gradient is at most a sum over 900 such changes.
        EXPECT_LT(MaxError(stopped.d_v, whole.d_v), 900 * eps + 2e-5);
        EXPECT_LT(MaxError(stopped.d_q, whole.d_q), 900 * eps + 2e-5);
        EXPECT_LT(MaxError(stopped.d_k, whole.d_k), 900 * eps + 2e-5);
      }
    }
  }
}

TEST(Stop, ByDefaultMatchesReferenceToRounding) {
  for (const bool qk_norm : {true, false}) {
    for (const auto& [name, on, changes] : kDropoutModes) {
      Problem problem = Long(Stop(kDefaultStopEps, qk_norm, on), 0.5);
      EXPECT_TRUE(AnyStopped(problem.Forward()));
      ExpectMatchesReference(problem, true);
    }
  }
}

TEST(Stop, GatesNearOneNeverStop) {
  const Result result = Long(Stop(kDefaultStopEps), 0.999).Forward();
  EXPECT_FALSE(AnyStopped(result));
  EXPECT_TRUE(BitEqual(result.out, Long(Stop(kStopNever), 0.999).Forward().out));
}

TEST(Stop, OneSlowQueryKeepsItsTileGoing) {
  Problem problem = Long(Stop(kDefaultStopEps), 0.5);
  for (size_t i = 0; i < problem.input.size(); i += 3) problem.input[i] = static_cast<float>(std::log(0.9999));
  EXPECT_FALSE(AnyStopped(problem.Forward()));  // tiles have at least 3 queries on every target
  ExpectMatchesReference(problem, true);
}

TEST(Stop, ExactModeChangesNoBit) {
  for (const bool qk_norm : {true, false}) {
    const Problem exact = Long(Stop(kStopWhenExact, qk_norm), 0.6);
    const Result result = exact.Forward();
    EXPECT_TRUE(AnyStopped(result));
    EXPECT_TRUE(BitEqual(result.out, Long(Stop(kStopNever, qk_norm), 0.6).Forward().out));
  }
  // With logit dropout it never stops: what lies past a stop would be added in another order.
  const AttentionOptions dropout = Stop(kStopWhenExact, true, DropoutOn::kLogits);
  EXPECT_FALSE(AnyStopped(Long(dropout, 0.6).Forward()));
}

TEST(Stop, ExactModeChangesNoBitOfDecode) {
  for (const double gate : {0.2, 0.3, 0.6}) {
    Problem exact({1, 2, 1, 2000, 32, 32}, Stop(kStopWhenExact));
    exact.SetLogGate(static_cast<float>(std::log(gate)));
    // Near values are zero, so that whatever a far one adds would show.
    for (size_t i = 0; i < exact.v.size(); ++i) exact.v[i] = i / 32 % 2000 >= 2000 - 128 ? 0 : 1;
    Problem never = exact;
    never.options.stop_eps = kStopNever;
    EXPECT_TRUE(BitEqual(exact.Decode().out, never.Decode().out));
  }
}

// A gate of 1 has a log of +0 or -0: the geometric series does not converge, and only the number of keys left bounds
// it.
TEST(Stop, GatesOfOneNeverStop) {
  for (const double log_gate : {0.0, -0.0, -1e-40}) {
    for (const bool qk_norm : {true, false}) {
      Problem problem = Long(Stop(kDefaultStopEps, qk_norm), 1);
      problem.SetLogGate(log_gate);
      EXPECT_FALSE(AnyStopped(problem.Forward()));
      ExpectMatchesReference(problem, true);
      Problem decode({1, 2, 1, 1500, 32, 32}, Stop(kDefaultStopEps, qk_norm));
      decode.SetLogGate(log_gate);
      EXPECT_LT(MaxError(decode.Decode().out, decode.Reference().out), 5e-6);
    }
  }
}

// Near keys score almost nothing and far keys as much as possible, which is the worst case of the bound.
TEST(Stop, HoldsItsBoundAgainstAdversarialKeysAndStrongDropout) {
  for (const float p : {0.05f, 0.5f, 0.9f}) {
    for (const auto& [name, on, changes] : kDropoutModes) {
      for (const double log_gate : {-0.05, -0.5}) {
        AttentionOptions options = Stop(kDefaultStopEps, true, on);
        options.dropout_p = p;
        Problem problem = Long(options, 1);
        problem.SetLogGate(static_cast<float>(log_gate));
        for (size_t row = 0; row < 2 * 800; ++row) {
          for (size_t c = 0; c < 32; ++c) problem.q[row * 32 + c] = c == 0 ? 1 : 0;
        }
        for (size_t row = 0; row < 2 * 900; ++row) {
          for (size_t c = 0; c < 32; ++c) {
            const bool far = row % 900 < 300;
            problem.k[row * 32 + c] = c == 0 ? (far ? 1 : 0.01) : (c == 1 && !far ? 1 : 0);
          }
        }
        SCOPED_TRACE(::testing::Message() << "p " << p << " on " << int(on) << " log gate " << log_gate);
        Problem never = problem;
        never.options.stop_eps = kStopNever;
        // Values are up to 4 / (1 - p), and sums of a few hundred of them round by about 1e-6 of that.
        EXPECT_LT(MaxError(problem.Forward().out, never.Forward().out), 5e-6 * MaxAbs(problem.v) / (1 - p));
      }
    }
  }
}

TEST(Stop, StrongGatesStopAfterOneBlock) {
  const Result result = Long(Stop(kDefaultStopEps), 0.1).Forward();
  // The last tile has seen the block it is in and at most one more.
  EXPECT_GE(result.first_key.back(), 900 - 2 * 96);
}

TEST(Stop, WaitsForAKeptKey) {
  // Far keys are kept, near ones are not: nothing may stop before the first kept key, however strong the gates.
  Problem problem = Long(Stop(kDefaultStopEps), 1e-6);
  for (size_t head = 0; head < 2; ++head) {
    for (size_t i = 0; i < 800; ++i) problem.q[(head * 800 + i) * 32] = 40;
    for (size_t j = 0; j < 900; ++j) problem.k[(head * 900 + j) * 32] = j == 3 ? 10 : -10;
  }
  ExpectMatchesReference(problem, true);
  const Result result = problem.Forward();
  EXPECT_FALSE(AnyStopped(result));
  EXPECT_GT(MaxAbs(result.out), 0.1);
}

}  // namespace
}  // namespace tra::testing
