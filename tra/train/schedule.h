// Computes the learning rate of a step.
#ifndef TRA_TRAIN_SCHEDULE_H_
#define TRA_TRAIN_SCHEDULE_H_

#include <cstdint>

#include "tra/run/config.h"

namespace tra {

// Returns the rate of step 0 .. steps - 1: a linear warm-up from lr / warmup, then the schedule. A cosine would reach
// final_lr * lr at step `steps`. Steps before an extension have the rate that they had before it.
double LearningRate(const TrainConfig& config, int64_t step);

}  // namespace tra

#endif  // TRA_TRAIN_SCHEDULE_H_
