#include "tra/report/colors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tra {
namespace {

using Color = std::array<double, 3>;

double Linear(double value) {
  const double share = value / 255;
  return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

double Encoded(double linear) {
  const double share = std::clamp(linear, 0.0, 1.0);
  return 255 * (share <= 0.0031308 ? share * 12.92 : 1.055 * std::pow(share, 1 / 2.4) - 0.055);
}

// What somebody sees who lacks one kind of cones (Machado et al., 2009), on linear RGB.
struct Vision {
  const char* name;
  std::array<Color, 3> matrix;
};
constexpr Vision kVisions[] = {
    {"all cones", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"protanopia",
     {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"deuteranopia",
     {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"tritanopia",
     {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}},
};

Color Seen(Rgba color, const Vision& vision) {
  const Color linear = {Linear(color.red), Linear(color.green), Linear(color.blue)};
  Color seen = {};
  for (size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 3; ++j) sum += vision.matrix[i][j] * linear[j];
    seen[i] = Encoded(sum);
  }
  return seen;
}

double Apart(Rgba a, Rgba b, const Vision& vision) {
  const Color x = Seen(a, vision), y = Seen(b, vision);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

constexpr Rgba kStates[] = {kFutureColor, kDroppedColor, kSkippedColor, kSkippedStripe, kNanColor};
constexpr double kClearly = 40;  // of 442 between black and white

TEST(Colors, NoWeightHasTheColourOfAStateForAnyVision) {
  for (const Vision& vision : kVisions) {
    for (const Rgba state : kStates) {
      for (int i = 0; i <= 1000; ++i) {
        ASSERT_GE(Apart(SequentialColor(i / 1000.0), state, vision), kClearly)
            << vision.name << " " << HexColor(state) << " " << i;
      }
    }
  }
}

TEST(Colors, StatesDifferFromEachOtherForAnyVision) {
  for (const Vision& vision : kVisions) {
    for (const Rgba& a : kStates) {
      for (const Rgba& b : kStates) {
        if (&a == &b) continue;
        EXPECT_GE(Apart(a, b, vision), kClearly) << vision.name << HexColor(a) << HexColor(b);
      }
    }
  }
}

// Differences are of attentions that drop and skip nothing, so only the future and NaN are beside them.
TEST(Colors, NoDifferenceHasTheColourOfTheFutureOrOfNan) {
  for (const Vision& vision : kVisions) {
    for (int i = 0; i <= 1000; ++i) {
      ASSERT_GE(Apart(DivergingColor(i / 1000.0), kFutureColor, vision), 0.9 * kClearly) << vision.name << " " << i;
      ASSERT_GE(Apart(DivergingColor(i / 1000.0), kNanColor, vision), kClearly) << vision.name << " " << i;
      ASSERT_GT(Apart(DivergingColor(i / 1000.0), kDroppedColor, kVisions[0]), kClearly) << i;
    }
  }
}

TEST(Colors, GetDarkerAllTheWay) {
  for (int i = 1; i <= 100; ++i) {
    const Rgba lighter = SequentialColor((i - 1) / 100.0), darker = SequentialColor(i / 100.0);
    EXPECT_LT(darker.red + darker.green + darker.blue, lighter.red + lighter.green + lighter.blue) << i;
  }
  EXPECT_TRUE(SequentialColor(-1) == SequentialColor(0));
  EXPECT_TRUE(SequentialColor(2) == SequentialColor(1));
}

}  // namespace
}  // namespace tra
