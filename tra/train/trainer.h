// Trains the model of a configuration in a run's folder.
#ifndef TRA_TRAIN_TRAINER_H_
#define TRA_TRAIN_TRAINER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tra/report/results.h"
#include "tra/run/config.h"
#include "tra/run/directory.h"

namespace tra {

class Replicas;

struct StepInfo {
  int64_t step = 0, steps = 0;  // steps taken, and all steps
  double loss = 0, accuracy = 0, lr = 0, grad_norm = 0;
  double tokens_per_second = 0, seconds_left = 0;
};

// Holds the functions by which a trainer reports and asks; any may be empty.
struct TrainHooks {
  std::function<void(const StepInfo&)> logged;  // every train.log_every steps
  std::function<void(int64_t step, const std::vector<ResultRow>&)> evaluated;
  std::function<void(const std::string&)> notice;
  std::function<void(const std::string&)> warning;  // in the first process: damaged checkpoints, jumps of the loss
  std::function<bool()> stop;  // asked after every step, and while the model is scored; true saves and ends
};

enum class Ended : uint8_t {
  kBefore,   // there was nothing left to do
  kSteps,    // all steps were taken
  kTarget,   // train.target was reached
  kStopped,  // on request; a resume continues
};

// Trains from the newest checkpoint, if there is one, to the end; then scores the model, writes results.json and marks
// the run as done. A run that was stopped or killed and resumed gives, bit for bit, the same as one that was never
// stopped, with the same number of threads and processes. Throws std::runtime_error, after writing FAILED, if the loss
// or the gradient is not finite or a file cannot be written; what was saved before stays.
//
// If there are several processes, every one calls this; `run` is null in all but the first.
Ended Train(const RunConfig& config, RunDirectory* run, Replicas& replicas, const TrainHooks& hooks = {});

}  // namespace tra

#endif  // TRA_TRAIN_TRAINER_H_
