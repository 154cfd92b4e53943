#include "tra/train/schedule.h"

#include <gtest/gtest.h>

namespace tra {
namespace {

TEST(Schedule, WarmsUpLinearlyThenFollowsACosine) {
  TrainConfig config;
  config.lr = 2.0;
  config.steps = 110;
  config.warmup = 10;
  config.final_lr = 0.1;
  EXPECT_DOUBLE_EQ(LearningRate(config, 0), 0.2);
  EXPECT_DOUBLE_EQ(LearningRate(config, 9), 2.0);
  EXPECT_DOUBLE_EQ(LearningRate(config, 10), 2.0);
  EXPECT_NEAR(LearningRate(config, 60), 2.0 * 0.55, 1e-12);  // half way
  EXPECT_NEAR(LearningRate(config, 110), 0.2, 1e-12);
  for (int64_t step = 11; step < 110; ++step) EXPECT_LT(LearningRate(config, step), LearningRate(config, step - 1));
}

TEST(Schedule, AnExtensionChangesTheRatesThatFollowItOnly) {
  TrainConfig once, extended;
  once.steps = 100;
  extended.steps = 400;
  extended.extended = {{60, 100}, {80, 200}};  // 100 steps up to 60, 200 up to 80, then 400
  EXPECT_EQ(LearningRate(extended, 59), LearningRate(once, 59));
  once.steps = 200;
  EXPECT_EQ(LearningRate(extended, 60), LearningRate(once, 60));
  once.steps = 400;
  EXPECT_EQ(LearningRate(extended, 80), LearningRate(once, 80));
}

TEST(Schedule, ConstantStaysAndNoWarmUpBeginsAtTheTop) {
  TrainConfig config;
  config.lr = 0.5;
  config.steps = 10;
  EXPECT_DOUBLE_EQ(LearningRate(config, 0), 0.5);
  config.schedule = Schedule::kConstant;
  EXPECT_DOUBLE_EQ(LearningRate(config, 9), 0.5);
}

}  // namespace
}  // namespace tra
