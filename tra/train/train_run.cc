#include "tra/train/train_run.h"

#include <memory>
#include <stdexcept>
#include <vector>

#include "tra/run/data.h"
#include "tra/run/initial_weights.h"
#include "tra/train/replicas/replicas.h"

namespace tra {
namespace {

// Gives all processes the number of steps of the first, which alone sees how far the run has come.
void ShareSteps(Replicas& replicas, const RunDirectory* run, TrainConfig& train) {
  const TrainConfig first = run != nullptr ? run->config().train : TrainConfig();
  std::vector<double> count = {run != nullptr ? static_cast<double>(first.extended.size()) : 0.0};  // others add 0
  replicas.Sum(count);
  std::vector<double> values(1 + 2 * static_cast<size_t>(count[0]), 0.0);
  if (run != nullptr) {
    values[0] = static_cast<double>(first.steps);
    for (size_t i = 0; i < first.extended.size(); ++i) {
      values[1 + 2 * i] = static_cast<double>(first.extended[i][0]);
      values[2 + 2 * i] = static_cast<double>(first.extended[i][1]);
    }
  }
  replicas.Sum(values);
  train.steps = static_cast<int64_t>(values[0]);
  train.extended.clear();
  for (size_t i = 1; i < values.size(); i += 2) {
    train.extended.push_back({static_cast<int64_t>(values[i]), static_cast<int64_t>(values[i + 1])});
  }
}

}  // namespace

Ended TrainRun(const RunConfig& config, const RunPlace& place, const TrainHooks& hooks) {
  Replicas::Options options;
  options.device = place.device;
  const std::unique_ptr<Replicas> replicas = Replicas::FromEnvironment(options);
  std::unique_ptr<RunDirectory> run;
  struct {
    double done = 0;
  } found;  // set by the first process
  replicas->OnFirst([&] {
    const ModelConfig model = CheckRun(config);
    if (place.steps && !HasCheckpoints(place.path)) {
      throw std::invalid_argument(place.path +
                                  ": has saved nothing yet that --steps could extend; use --set train.steps=N");
    }
    if (!config.train.init_from.empty() && !HasCheckpoints(place.path)) {
      CheckInitialWeights(config.train.init_from, model);
    }
    run = std::make_unique<RunDirectory>(place.path, config, place.start, place.device.str());
    const std::string extended = place.steps ? run->Extend(*place.steps) : "";
    if (!extended.empty() && hooks.notice) hooks.notice(place.path + ": " + extended);
    if (IsDone(place.path)) {
      found.done = 1;
    } else if (!run->Locked() && hooks.warning) {
      hooks.warning(place.path +
                    ": its file system does not support locks; make sure that no other process trains there");
    }
  });
  replicas->SumFields(found);
  if (found.done > 0) return Ended::kBefore;
  RunConfig shared = config;
  if (place.steps) ShareSteps(*replicas, run.get(), shared.train);
  TrainHooks own;
  if (replicas->rank() == 0) {
    own = hooks;
  } else {
    own.stop = hooks.stop;
  }
  return Train(shared, run.get(), *replicas, own);
}

}  // namespace tra
