// Defines a fixture whose tests run once on every SIMD target that was compiled and that this machine can run.
#ifndef TRA_TESTS_KERNELS_EVERY_TARGET_H_
#define TRA_TESTS_KERNELS_EVERY_TARGET_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "tra/kernels/targets.h"

namespace tra::testing {

class EveryTarget : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    ForceTarget(GetParam());
    ASSERT_EQ(ChosenTargetName(), TargetName(GetParam()));
  }
  void TearDown() override { ForceTarget(0); }
};

}  // namespace tra::testing

#define TRA_ON_EVERY_TARGET(fixture)                                            \
  INSTANTIATE_TEST_SUITE_P(All, fixture, ::testing::ValuesIn(::tra::Targets()), \
                           [](const auto& info) { return ::tra::TargetName(info.param); })

#endif  // TRA_TESTS_KERNELS_EVERY_TARGET_H_
