#include "tra/train/train_run.h"

#include <memory>

#include "tra/run/data.h"
#include "tra/train/replicas/replicas.h"

namespace tra {

Ended TrainRun(const RunConfig& config, const RunPlace& place, const TrainHooks& hooks) {
  Replicas::Options options;
  options.device = place.device;
  const std::unique_ptr<Replicas> replicas = Replicas::FromEnvironment(options);
  std::unique_ptr<RunDirectory> run;
  struct {
    double done = 0;
  } found;  // set by the first process
  replicas->OnFirst([&] {
    CheckRun(config);
    run = std::make_unique<RunDirectory>(place.path, config, place.start, place.device.str());
    if (IsDone(place.path)) {
      found.done = 1;
    } else if (!run->Locked() && hooks.warning) {
      hooks.warning(place.path +
                    ": its file system does not support locks; make sure that no other process trains there");
    }
  });
  replicas->SumFields(found);
  if (found.done > 0) return Ended::kBefore;
  TrainHooks own;
  if (replicas->rank() == 0) {
    own = hooks;
  } else {
    own.stop = hooks.stop;
  }
  return Train(config, run.get(), *replicas, own);
}

}  // namespace tra
