#include "tra/report/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace tra {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Axis, FitsWhatHasAPlaceOnIt) {
  const Axis linear = FitAxis({"", 0, 0}, {3, -1, std::nan(""), kInfinity});
  EXPECT_EQ(linear.low, -1);
  EXPECT_EQ(linear.high, 3);
  const Axis logarithmic = FitAxis({"", 0, 0, Scale::kLog10}, {0, -5, 10, 1000, kInfinity});
  EXPECT_EQ(logarithmic.low, 10);
  EXPECT_EQ(logarithmic.high, 1000);
}

TEST(Axis, LeavesAGivenShareFreeAtBothEnds) {
  const Axis linear = FitAxis({"", 0, 0}, {0, 100}, 0.1);
  EXPECT_DOUBLE_EQ(linear.low, -10);
  EXPECT_DOUBLE_EQ(linear.high, 110);
  const Axis logarithmic = FitAxis({"", 0, 0, Scale::kLog10}, {1, 100}, 0.5);
  EXPECT_DOUBLE_EQ(logarithmic.low, 0.1);
  EXPECT_DOUBLE_EQ(logarithmic.high, 1000);
}

TEST(Axis, OneValueOrNoneStillGivesARange) {
  for (const Scale scale : {Scale::kLinear, Scale::kLog2, Scale::kLog10}) {
    for (const std::vector<double>& values : {std::vector<double>{7}, {std::nan("")}, {}}) {
      const Axis axis = FitAxis({"", 0, 0, scale}, values, 0.05);
      EXPECT_LT(axis.low, axis.high);
      EXPECT_TRUE(std::isfinite(PlaceOn(axis, 7)));
    }
  }
}

TEST(Axis, KeepsAGivenRange) {
  const Axis axis = FitAxis({"", 0, 100}, {30, 400}, 0.1);
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.high, 100);
  EXPECT_EQ(PlaceOn(axis, 400), 1);
  EXPECT_EQ(PlaceOn(axis, -1), 0);
}

TEST(Axis, EqualFactorsAreEquallyFarApartOnLogarithms) {
  const Axis axis = FitAxis({"", 128, 4096, Scale::kLog2}, {});
  EXPECT_DOUBLE_EQ(PlaceOn(axis, 128), 0);
  EXPECT_DOUBLE_EQ(PlaceOn(axis, 256), 0.2);
  EXPECT_DOUBLE_EQ(PlaceOn(axis, 2048), 0.8);
  EXPECT_EQ(PlaceOn(axis, 0), 0);  // has no logarithm: at the low end
}

TEST(Axis, RefusesARangeThatIsNone) {
  EXPECT_THROW(FitAxis({"", 2, 1}, {}), std::invalid_argument);
  EXPECT_THROW(FitAxis({"", 0, 1, Scale::kLog10}, {}), std::invalid_argument);
}

TEST(LogTicks, ArePowersOfTwo) {
  EXPECT_EQ(LogTicks(128, 4096, Scale::kLog2), (std::vector<double>{128, 256, 512, 1024, 2048, 4096}));
  const auto many = LogTicks(1, 1 << 20, Scale::kLog2);
  EXPECT_LE(many.size(), 9U);
  EXPECT_EQ(many.front(), 1);
}

TEST(LogTicks, ArePowersOfTenWithTwosAndFivesWhereThereIsRoom) {
  EXPECT_EQ(LogTicks(1, 1e6, Scale::kLog10), (std::vector<double>{1, 10, 100, 1000, 1e4, 1e5, 1e6}));
  EXPECT_EQ(LogTicks(20, 250, Scale::kLog10), (std::vector<double>{20, 50, 100, 200}));
  EXPECT_EQ(LogTicks(1e-4, 1, Scale::kLog10).size(), 5U);
}

TEST(LogTicks, AreEvenWithinOneStep) { EXPECT_EQ(LogTicks(30, 32, Scale::kLog2), Ticks(30, 32)); }

TEST(ShortNumber, HasNoMoreThanItNeeds) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(0.5), "0.5");
  EXPECT_EQ(ShortNumber(4096), "4096");
  EXPECT_EQ(ShortNumber(100000), "100000");
  EXPECT_EQ(ShortNumber(1e6), "1e6");
  EXPECT_EQ(ShortNumber(2.5e-7), "2.5e-7");
}

}  // namespace
}  // namespace tra
