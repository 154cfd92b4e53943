// Trains a run from the beginning to the end: what `tra train` does, as a function.
#ifndef TRA_TRAIN_TRAIN_RUN_H_
#define TRA_TRAIN_TRAIN_RUN_H_

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tra/run/config.h"
#include "tra/run/directory.h"
#include "tra/train/trainer.h"

namespace tra {

struct RunPlace {
  std::string path;
  RunDirectory::Start start = RunDirectory::Start::kNew;
  at::Device device = at::kCPU;
  std::optional<int64_t> steps;  // changes the number of steps of a run that has begun
};

// Meets the other processes if torchrun started several, checks the configuration, opens the run's folder and trains.
// Only the first process opens the folder and calls hooks; all of them ask hooks.stop. Throws as Train does, and
// std::invalid_argument before anything is written if the configuration cannot be trained.
Ended TrainRun(const RunConfig& config, const RunPlace& place, const TrainHooks& hooks);

}  // namespace tra

#endif  // TRA_TRAIN_TRAIN_RUN_H_
