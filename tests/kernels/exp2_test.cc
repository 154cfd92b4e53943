// Compares the exponential of the kernels with float64, on every SIMD target.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tra/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/exp2_test.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Sets y to Exp2 of x, whose size must be a multiple of 16.
void Exp2All(const std::vector<float>& x, std::vector<float>& y) {
  for (size_t i = 0; i < x.size(); i += kLanes) hn::StoreU(Exp2(hn::LoadU(DF(), x.data() + i)), DF(), y.data() + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
namespace {

HWY_EXPORT(Exp2All);

TEST(Exp2, IsAccurateFlushesAndKeepsNaN) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> x = {-kInf, -1e30f, -100.001f, std::numeric_limits<float>::quiet_NaN()};
  while (x.size() < 160000) x.push_back(-100.0f + static_cast<float>(x.size()) * 1e-3f);  // up to 60
  for (const int64_t target : Targets()) {
    ForceTarget(target);
    std::vector<float> y(x.size());
    HWY_DYNAMIC_DISPATCH(Exp2All)(x, y);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(y[i], 0.0f) << TargetName(target);
    EXPECT_TRUE(std::isnan(y[3])) << TargetName(target);
    double worst = 0;
    for (size_t i = 4; i < x.size(); ++i)
      worst = std::max(worst, std::abs(y[i] / std::exp2(static_cast<double>(x[i])) - 1));
    EXPECT_LT(worst, 3e-7) << TargetName(target);
  }
  ForceTarget(0);
}

}  // namespace
}  // namespace tra
#endif  // HWY_ONCE
