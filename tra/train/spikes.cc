#include "tra/train/spikes.h"

namespace tra {
namespace {

constexpr double kForget = 0.02;  // a mean over some 50 steps,
constexpr int64_t kSettled = 50;  // which mean something only after as many; and a spike lasts about as long
// In nats. A task that is all but solved has losses near zero, in which a single wrong answer is many times the mean.
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
