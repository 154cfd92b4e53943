// Notices when the loss jumps.
#ifndef TRA_TRAIN_SPIKES_H_
#define TRA_TRAIN_SPIKES_H_

#include <cstdint>

namespace tra {

class Spikes {
 public:
  // A loss of more than `factor` times the running mean is one; 0: nothing is.
  explicit Spikes(double factor) : factor_(factor) {}

  // Of step 1, 2, ...: whether it is the first of a spike. Takes the loss into `mean`, the running mean so far, which
  // is the caller's to save.
  bool Notice(int64_t step, double loss, double& mean);

 private:
  double factor_;
  int64_t last_ = 0;  // step of the last spike
};

}  // namespace tra

#endif  // TRA_TRAIN_SPIKES_H_
