// The draws of one example: a pure function of where the example stands, so nothing has to be saved, skipped or shared.
#ifndef TRA_TASKS_RANDOM_H_
#define TRA_TASKS_RANDOM_H_

#include <array>
#include <cstdint>

#include "tra/kernels/philox.h"

namespace tra {

class Random {
 public:
  // `stream` is of the task and split (see Task::Stream).
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

  // Uniform in [0, bound), exactly: the high half of a product, with the few words that would favour some results
  // thrown away (Lemire 2019).
  uint32_t Below(uint32_t bound) {
    uint64_t product = static_cast<uint64_t>(Word()) * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t uneven = -bound % bound;
      while (static_cast<uint32_t>(product) < uneven) product = static_cast<uint64_t>(Word()) * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) { return low + Below(static_cast<uint32_t>(high - low + 1)); }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> words_{};
  size_t used_ = 4;
};

}  // namespace tra

#endif  // TRA_TASKS_RANDOM_H_
