// Draws the random numbers of one example. They are a pure function of its seed, stream and index, so nothing has to be
// saved, skipped or shared.
#ifndef TRA_TASKS_RANDOM_H_
#define TRA_TASKS_RANDOM_H_

#include <array>
#include <cstdint>

#include "tra/base/philox.h"

namespace tra {

class Random {
 public:
  // `stream` belongs to the task and the split (see Task::StreamWord).
  Random(uint64_t seed, uint32_t stream, uint64_t index)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        counter_{0, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream} {}

  uint32_t Word() {
    if (used_ == words_.size()) {
      words_ = Philox(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return words_[used_++];
  }

  // Draws from [0, bound), exactly uniformly: takes the high half of a product, and rejects the few words that would
  // favour some results (Lemire 2019).
  uint32_t Below(uint32_t bound) {
    uint64_t product = static_cast<uint64_t>(Word()) * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t uneven = -bound % bound;
      while (static_cast<uint32_t>(product) < uneven) product = static_cast<uint64_t>(Word()) * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // Draws uniformly from [low, high].
  int64_t Between(int64_t low, int64_t high) { return low + Below(static_cast<uint32_t>(high - low + 1)); }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> words_{};
  size_t used_ = 4;
};

}  // namespace tra

#endif  // TRA_TASKS_RANDOM_H_
