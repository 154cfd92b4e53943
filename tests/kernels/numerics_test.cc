// Compares the error of the kernels with that of a plain fp32 implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/kernels/problem.h"

namespace tra::testing {
namespace {

// Computes the forward naively in fp32, with one sum per row, under a given mask.
std::vector<double> NaiveForward(const Problem& p, const std::vector<uint8_t>& mask) {
  const size_t T = p.shape.queries, d = p.shape.width;
  const auto normalise = [&](const std::vector<double>& from) {
    std::vector<float> rows(from.begin(), from.end());
    for (size_t r = 0; r < rows.size() / d; ++r) {
      float squares = 0;
      for (size_t c = 0; c < d; ++c) squares += rows[r * d + c] * rows[r * d + c];
      const float scale = 1 / std::sqrt(squares / static_cast<float>(d) + p.options.norm_eps);
      for (size_t c = 0; c < d; ++c) rows[r * d + c] *= scale;
    }
    return rows;
  };
  const std::vector<float> q = normalise(p.q), k = normalise(p.k);
  std::vector<double> out(p.v.size());
  for (size_t head = 0; head < p.Heads(); ++head) {
    for (size_t i = 0; i < T; ++i) {
      std::vector<float> logit(T), o(d);
      float count = 0, largest = -1e30f, sum = 0;
      for (size_t j = i + 1; j-- > 0;) {
        if (!mask[(head * T + i) * T + j]) continue;
        float dot = 0;
        for (size_t c = 0; c < d; ++c) dot += q[(head * T + i) * d + c] * k[(head * T + j) * d + c];
        count += 1;
        logit[j] = dot / std::sqrt(static_cast<float>(d)) + count * static_cast<float>(p.input[head * T + i]);
        largest = std::max(largest, logit[j]);
      }
      for (size_t j = 0; j <= i; ++j) {
        if (mask[(head * T + i) * T + j]) sum += std::exp(logit[j] - largest);
      }
      for (size_t j = 0; j <= i; ++j) {
        if (!mask[(head * T + i) * T + j]) continue;
        const float weight = std::exp(logit[j] - largest) / sum;
        for (size_t c = 0; c < d; ++c) o[c] += weight * static_cast<float>(p.v[(head * T + j) * d + c]);
      }
      for (size_t c = 0; c < d; ++c) out[(head * T + i) * d + c] = o[c];
    }
  }
  return out;
}

TEST(Numerics, ErrorIsWithinASmallFactorOfNaiveFp32) {
  for (const size_t length : {64, 1025}) {
    for (const size_t width : {16, 64, 128}) {
      AttentionOptions options;
      options.stop_eps = kStopNever;
      Problem problem({1, 2, length, length, width, width}, options);
      problem.SetLogGate(-0.003f);  // weak gates, so that sums are long
      const std::vector<uint8_t> mask = problem.KernelMask();
      const std::vector<double> want = problem.Reference(mask).out;
      const double naive = MaxError(NaiveForward(problem, mask), want);
      const double ours = MaxError(problem.Forward().out, want);
      std::printf("T %zu d %zu: error %.2g, naive fp32 %.2g\n", length, width, ours, naive);
      EXPECT_LT(ours, 2 * naive + 1e-7);
      EXPECT_LT(ours, 2e-6);
    }
  }
}

TEST(Numerics, LargeScoresWithoutNormDoNotOverflow) {
  AttentionOptions options;
  options.qk_norm = false;
  for (const RuleInfo& info : kRules) {
    const ScoreRule rule = info.rule;
    options.rule = rule;
    Problem problem({1, 1, 150, 150, 16, 16}, options);
    for (double& each : problem.q) each *= 1000;  // logits of thousands: softmax is nearly one-hot
    const std::vector<double> got = problem.Forward().out;
    // Neighbouring logits differ by much more than their rounding, about 1e-4.
    EXPECT_LT(MaxError(got, problem.Reference().out), 2e-3);
  }
}

}  // namespace
}  // namespace tra::testing
