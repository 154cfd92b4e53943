#include "tra/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernels/every_target.h"
#include "tra/kernels/cross_entropy_reference.h"

namespace tra {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Outcome {
  std::vector<double> losses;
  std::vector<uint8_t> correct;
  std::vector<float> gradient;
};

struct LogitRows {
  size_t classes;
  std::vector<float> logits;
  std::vector<int64_t> targets;

  LogitRows(size_t rows, size_t classes_, float spread) : classes(classes_), logits(rows * classes_), targets(rows) {
    std::mt19937 random(static_cast<unsigned>(rows * 1000 + classes));
    std::normal_distribution<float> normal(3.0f, spread);
    for (float& each : logits) each = normal(random);
    for (int64_t& each : targets) each = static_cast<int64_t>(random() % classes);
  }
  LogitRows(std::vector<float> logits_, std::vector<int64_t> targets_)
      : classes(logits_.size() / targets_.size()), logits(std::move(logits_)), targets(std::move(targets_)) {}

  // Returns arguments whose results go to `outcome`, which first gets values that are never right: what is not written
  // shows.
  CrossEntropyArgs<float> Args(Outcome& outcome, double scale = 1.0) const {
    outcome.losses.assign(targets.size(), kNaN);
    outcome.correct.assign(targets.size(), 7);
    outcome.gradient.assign(logits.size(), kNaN);
    CrossEntropyArgs<float> args;
    args.rows = targets.size();
    args.classes = classes;
    args.logits = logits.data();
    args.targets = targets.data();
    args.losses = outcome.losses.data();
    args.correct = outcome.correct.data();
    args.gradient = outcome.gradient.data();
    args.scale = scale;
    return args;
  }

  Outcome Run(size_t workers = 1, double scale = 1.0) const {
    Outcome outcome;
    ThreadPool pool(workers);
    CrossEntropy(Args(outcome, scale), pool);
    return outcome;
  }
  Outcome Reference(double scale = 1.0) const {
    Outcome outcome;
    CrossEntropyReference(Args(outcome, scale));
    return outcome;
  }
};

using testing::EveryTarget;

TEST_P(EveryTarget, MatchesReference) {
  for (const size_t classes : {1, 2, 6, 15, 16, 17, 97, 257, 50257}) {
    for (const float spread : {0.1f, 4.0f, 60.0f}) {
      const LogitRows rows(classes > 1000 ? 3 : 40, classes, spread);
      const Outcome got = rows.Run(1, 0.25), want = rows.Reference(0.25);
      // An exponential is off by 3e-7 (exp2_test) and, from rounding its argument, by 6e-8 * 1.5 * |logit - max|, which
      // grows more slowly than the exponential falls; the sum is off by a few units in the last place.
      for (size_t i = 0; i < want.losses.size(); ++i) {
        EXPECT_NEAR(got.losses[i], want.losses[i], 1e-6) << classes << " classes, spread " << spread;
        EXPECT_EQ(got.correct[i], want.correct[i]);
      }
      double worst = 0;
      for (size_t i = 0; i < want.gradient.size(); ++i) {
        ASSERT_FALSE(std::isnan(got.gradient[i]));
        worst = std::max(worst, std::abs(static_cast<double>(got.gradient[i]) - want.gradient[i]));
      }
      EXPECT_LT(worst, 0.25 * 1e-6) << classes << " classes, spread " << spread;
    }
  }
}

TEST_P(EveryTarget, AnyLogitThatIsNotFiniteMakesLossAndGradientNaN) {
  for (const size_t classes : {1, 6, 97}) {
    for (const float bad : {kNaN, kInf, -kInf}) {
      for (size_t at = 0; at < classes; ++at) {
        LogitRows rows(3, classes, 1.0f);
        rows.logits[classes + at] = bad;
        const Outcome got = rows.Run(), want = rows.Reference();
        EXPECT_TRUE(std::isnan(got.losses[1]) && std::isnan(want.losses[1])) << bad << " at " << at;
        EXPECT_EQ(got.correct[1], 0);
        EXPECT_EQ(want.correct[1], 0);
        for (size_t c = 0; c < classes; ++c) {
          EXPECT_TRUE(std::isnan(got.gradient[classes + c]) && std::isnan(want.gradient[classes + c]));
        }
        EXPECT_TRUE(std::isfinite(got.losses[0]) && std::isfinite(got.losses[2]));  // neighbouring rows are not touched
        EXPECT_TRUE(std::isfinite(got.gradient[classes - 1]) && std::isfinite(got.gradient[2 * classes]));
      }
    }
  }
}

TEST_P(EveryTarget, TheFirstOfEqualLogitsIsThePrediction) {
  constexpr size_t kClasses = 37;
  for (size_t first = 0; first < kClasses; ++first) {
    for (size_t target = 0; target < kClasses; ++target) {
      std::vector<float> logits(kClasses, -1.0f);
      logits[first] = logits[kClasses - 1] = 2.0f;
      const LogitRows rows(logits, {static_cast<int64_t>(target)});
      EXPECT_EQ(rows.Run().correct[0], target == first ? 1 : 0) << first << ", " << target;
      EXPECT_EQ(rows.Reference().correct[0], target == first ? 1 : 0) << first << ", " << target;
    }
  }
}

TEST_P(EveryTarget, LogitsAtTheEndsOfTheRangeAreExact) {
  constexpr float kHuge = std::numeric_limits<float>::max();
  // exp(-2 kHuge) is 0, so the loss is the difference itself; equal logits have equal shares, however far they are from
  // 0.
  EXPECT_EQ(LogitRows({kHuge, -kHuge, 0.0f}, {1}).Run().losses[0], 2.0 * static_cast<double>(kHuge));
  EXPECT_EQ(LogitRows({kHuge, -kHuge, 0.0f}, {0}).Run().losses[0], 0.0);
  EXPECT_NEAR(LogitRows({-kHuge, -kHuge, -kHuge}, {2}).Run().losses[0], std::log(3.0), 1e-6);
}

TRA_ON_EVERY_TARGET(EveryTarget);

TEST(CrossEntropy, InPlaceAndWithoutGradientGiveTheSameBits) {
  for (const size_t classes : {6, 97, 5000}) {
    LogitRows rows(20, classes, 2.0f);
    const Outcome apart = rows.Run();
    Outcome plain, in_place;
    Serial serial;
    CrossEntropyArgs<float> args = rows.Args(plain);
    args.gradient = nullptr;
    CrossEntropy(args, serial);
    EXPECT_EQ(plain.losses, apart.losses);
    EXPECT_EQ(plain.correct, apart.correct);
    args = rows.Args(in_place);
    args.gradient = rows.logits.data();
    args.correct = nullptr;
    CrossEntropy(args, serial);
    EXPECT_EQ(in_place.losses, apart.losses);
    EXPECT_EQ(rows.logits, apart.gradient);
  }
}

TEST(CrossEntropy, WorkersDoNotChangeBits) {
  for (const size_t classes : {6, 5000}) {
    const LogitRows rows(20000 / classes * 10, classes, 2.0f);
    const Outcome one = rows.Run(1);
    for (const size_t workers : {2, 5}) {
      const Outcome many = rows.Run(workers);
      EXPECT_EQ(many.losses, one.losses);
      EXPECT_EQ(many.correct, one.correct);
      EXPECT_EQ(many.gradient, one.gradient);
    }
  }
}

TEST(CrossEntropyReference, GradientIsTheSlopeOfTheLoss) {
  std::vector<double> logits = {0.3, -1.2, 2.0, 0.1, 0.7, -0.4, 1.1, 0.0};
  const std::vector<int64_t> targets = {2, 0};
  std::vector<double> losses(2), gradient(8);
  CrossEntropyArgs<double> args;
  args.rows = 2;
  args.classes = 4;
  args.logits = logits.data();
  args.targets = targets.data();
  args.losses = losses.data();
  args.gradient = gradient.data();
  args.scale = 3.0;
  CrossEntropyReference(args);
  args.gradient = nullptr;
  constexpr double kStep = 1e-5;  // the error is its square times a third derivative below 1
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto loss_at = [&](double step) {
      logits[i] += step;
      CrossEntropyReference(args);
      logits[i] -= step;
      return losses[i / 4];
    };
    EXPECT_NEAR(gradient[i], 3.0 * (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep), 1e-9);
  }
}

TEST(CrossEntropy, TargetsOutsideTheClassesAreRefusedByValue) {
  for (const int64_t target : {int64_t{-1}, int64_t{6}}) {
    LogitRows rows(4, 6, 1.0f);
    rows.targets[2] = target;
    try {
      rows.Run();
      FAIL() << "accepted " << target;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("target " + std::to_string(target) + " in row 2"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("6 classes"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tra
