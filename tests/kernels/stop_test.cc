// The early stop: what it may change, when it happens, and that the backward follows.
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
    for (const DropoutOn on : {DropoutOn::kNone, DropoutOn::kLogits, DropoutOn::kWeights}) {
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
    for (const DropoutOn on : {DropoutOn::kNone, DropoutOn::kLogits, DropoutOn::kWeights}) {
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
  for (size_t i = 0; i < problem.gate.size(); i += 3) problem.gate[i] = static_cast<float>(std::log(0.9999));
  EXPECT_FALSE(AnyStopped(problem.Forward()));  // tiles have at least 3 queries on every target
  ExpectMatchesReference(problem, true);
}

TEST(Stop, ExactModeChangesNoBit) {
  for (const bool qk_norm : {true, false}) {
    const Problem exact = Long(Stop(kStopWhenExact, qk_norm), 0.6);
    const Result result = exact.Forward();
    EXPECT_TRUE(AnyStopped(result));
    EXPECT_TRUE(BitEqual(result.out, Long(Stop(kStopNever, qk_norm), 0.6).Forward().out));
    EXPECT_TRUE(BitEqual(exact.Decode().out, exact.Decode().out));
  }
}

TEST(Stop, StrongGatesStopAfterOneBlock) {
  const Result result = Long(Stop(kDefaultStopEps), 0.1).Forward();
  // The last tile has seen the block it stands in and one more at most.
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
