// Notices when the loss jumps.
#ifndef TRA_TRAIN_SPIKES_H_
#define TRA_TRAIN_SPIKES_H_

#include <cstdint>

namespace tra {

class Spikes {
 public:
  // Takes a loss of more than `factor` times the running mean, and 0.1 above it, as a spike; with 0 there are none.
  explicit Spikes(double factor) : factor_(factor) {}

  // Says whether the loss of step 1, 2, ... is the first of a spike. Updates `mean`, the running mean so far, which the
  // caller saves.
  bool Notice(int64_t step, double loss, double& mean);

 private:
  double factor_;
  int64_t last_ = 0;  // step of the last spike
};

}  // namespace tra

#endif  // TRA_TRAIN_SPIKES_H_
