#include "tra/train/spikes.h"

namespace tra {
namespace {

constexpr double kForget = 0.02;  // makes a mean over about 50 steps
constexpr int64_t kSettled = 50;  // steps until that mean is meaningful; also how long a spike counts as one
// In nats. A task that is nearly solved has losses near zero, where a single wrong answer is many times the mean.
constexpr double kLeast = 0.1;

}  // namespace

bool Spikes::Notice(int64_t step, double loss, double& mean) {
  const bool high = factor_ > 0 && step > kSettled && loss > factor_ * mean && loss > mean + kLeast;
  mean = step == 1 ? loss : mean + kForget * (loss - mean);
  if (!high || (last_ > 0 && step < last_ + kSettled)) return false;
  last_ = step;
  return true;
}

}  // namespace tra
