#include "tra/kernels/adamw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernels/every_target.h"
#include "tra/kernels/adamw_reference.h"

namespace tra {
namespace {

template <typename T>
struct Arrays {
  std::vector<T> parameter, grad, exp_avg, exp_avg_sq;

  AdamWArray<T> View(int64_t step, double weight_decay) {
    return {parameter.size(), parameter.data(), grad.data(), exp_avg.data(), exp_avg_sq.data(), step, weight_decay};
  }
};

// Draws values as in the middle of training.
Arrays<float> Draw(size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  const auto in = [&](float low, float high) { return low + (high - low) * static_cast<float>(random()) * 0x1p-32f; };
  Arrays<float> arrays;
  for (size_t i = 0; i < n; ++i) {
    arrays.parameter.push_back(in(-4.0f, 4.0f));
    arrays.grad.push_back(in(-3.0f, 3.0f));
    arrays.exp_avg.push_back(in(-1.0f, 1.0f));
    arrays.exp_avg_sq.push_back(in(0.1f, 3.0f));
  }
  return arrays;
}

AdamWOptions SomeOptions() {
  AdamWOptions options;
  options.lr = 0.1;
  options.beta2 = 0.95;
  options.eps = 1e-3;
  options.grad_scale = 0.7;
  return options;
}

double MaxError(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double error = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

using testing::EveryTarget;

TEST_P(EveryTarget, MatchesReference) {
  for (const size_t n : {0, 1, 7, 8, 9, 1000003}) {
    const Arrays<float> start = Draw(n);
    for (const int64_t step : {1, 1000}) {
      Arrays<float> got = start, want = start;
      Serial serial;
      AdamWUpdate({got.View(step, 0.1)}, SomeOptions(), serial);
      AdamWUpdateReference<float>({want.View(step, 0.1)}, SomeOptions());
      // Numbers are up to 5, with a handful of roundings of 2^-24 each.
      EXPECT_LE(MaxError(got.parameter, want.parameter), 3e-6) << n;
      EXPECT_LE(MaxError(got.exp_avg, want.exp_avg), 1e-6) << n;
      EXPECT_LE(MaxError(got.exp_avg_sq, want.exp_avg_sq), 1e-6) << n;
      EXPECT_EQ(got.grad, want.grad) << n;
      EXPECT_EQ(MaxError(want.parameter, start.parameter) > 1e-3, n > 0);  // the step moved them
    }
  }
}

TEST_P(EveryTarget, ZeroGradChangesOnlyTheGradient) {
  Arrays<float> kept = Draw(1003), zeroed = kept;
  AdamWOptions options = SomeOptions();
  Serial serial;
  AdamWUpdate({kept.View(3, 0.1)}, options, serial);
  options.zero_grad = true;
  AdamWUpdate({zeroed.View(3, 0.1)}, options, serial);
  EXPECT_EQ(kept.grad, Draw(1003).grad);
  EXPECT_EQ(zeroed.grad, std::vector<float>(1003, 0.0f));
  EXPECT_EQ(zeroed.parameter, kept.parameter);
  EXPECT_EQ(zeroed.exp_avg, kept.exp_avg);
  EXPECT_EQ(zeroed.exp_avg_sq, kept.exp_avg_sq);
}

TEST_P(EveryTarget, NaNGradientsReachTheirOwnElementsOnly) {
  for (const size_t at : {0, 40}) {  // in a whole vector, and after the last one
    Arrays<float> arrays = Draw(41);
    arrays.grad[at] = std::numeric_limits<float>::quiet_NaN();
    Serial serial;
    AdamWUpdate({arrays.View(1, 0.0)}, {}, serial);
    for (size_t i = 0; i < 41; ++i) EXPECT_EQ(std::isnan(arrays.parameter[i]), i == at) << i;
  }
}

TRA_ON_EVERY_TARGET(EveryTarget);

TEST(AdamWReference, FirstStepMovesByTheLearningRateAgainstTheGradient) {
  // Computed by hand: both corrections make up for averages that start at 0, so that the ratio of the averages is the
  // sign.
  Arrays<double> arrays{{1.0, 1.0}, {0.5, -4.0}, {0.0, 0.0}, {0.0, 0.0}};
  AdamWOptions options;
  options.lr = 0.01;
  options.eps = 0.0;
  AdamWUpdateReference<double>({arrays.View(1, 0.5)}, options);
  EXPECT_NEAR(arrays.parameter[0], 0.995 - 0.01, 1e-12);
  EXPECT_NEAR(arrays.parameter[1], 0.995 + 0.01, 1e-12);
}

TEST(AdamW, WorkersDoNotChangeBits) {
  Arrays<float> one = Draw(200001), other_one = Draw(77);
  const Arrays<float> start = one, other_start = other_one;
  Serial serial;
  AdamWUpdate({one.View(2, 0.1), other_one.View(5, 0.0)}, SomeOptions(), serial);
  for (const size_t workers : {2, 5}) {
    Arrays<float> many = start, other_many = other_start;
    ThreadPool pool(workers);
    AdamWUpdate({many.View(2, 0.1), other_many.View(5, 0.0)}, SomeOptions(), pool);
    EXPECT_EQ(many.parameter, one.parameter);
    EXPECT_EQ(many.exp_avg, one.exp_avg);
    EXPECT_EQ(many.exp_avg_sq, one.exp_avg_sq);
    EXPECT_EQ(other_many.parameter, other_one.parameter);
  }
}

TEST(AdamW, ArraysGoByTheirOwnStepAndDecay) {
  Arrays<float> first = Draw(100), second = first, alone = first;
  Serial serial;
  AdamWUpdate({first.View(1, 0.0), second.View(9, 0.5)}, SomeOptions(), serial);
  AdamWUpdate({alone.View(9, 0.5)}, SomeOptions(), serial);
  EXPECT_EQ(second.parameter, alone.parameter);
  EXPECT_NE(first.parameter, alone.parameter);
}

TEST(AdamW, OptionsWithoutAResultAreRefused) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Serial serial;
  const auto refused = [&](double AdamWOptions::*option, double value) {
    AdamWOptions options;
    options.*option = value;
    EXPECT_THROW(AdamWUpdate({}, options, serial), std::invalid_argument) << value;
  };
  refused(&AdamWOptions::lr, kInf);
  refused(&AdamWOptions::beta1, 1.0);
  refused(&AdamWOptions::beta2, -0.1);
  refused(&AdamWOptions::eps, -1e-8);
  refused(&AdamWOptions::grad_scale, std::nan(""));
  Arrays<float> arrays = Draw(3);
  EXPECT_THROW(AdamWUpdate({arrays.View(0, 0.0)}, {}, serial), std::invalid_argument);
}

}  // namespace
}  // namespace tra
