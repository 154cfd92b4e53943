#include "tra/train/schedule.h"

#include <algorithm>
#include <cmath>

namespace tra {

double LearningRate(const TrainConfig& config, int64_t step) {
  if (step < config.warmup) return config.lr * static_cast<double>(step + 1) / static_cast<double>(config.warmup);
  if (config.schedule == Schedule::kConstant) return config.lr;
  constexpr double kPi = 3.14159265358979323846;
  const auto left = static_cast<double>(std::max<int64_t>(1, StepsOfSchedule(config, step) - config.warmup));
  const double done = std::min(1.0, static_cast<double>(step - config.warmup) / left);
  return config.lr * (config.final_lr + (1 - config.final_lr) * 0.5 * (1 + std::cos(kPi * done)));
}

}  // namespace tra
