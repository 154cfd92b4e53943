// Puts numbers into another order, without a table.
#ifndef TRA_BASE_PERMUTATION_H_
#define TRA_BASE_PERMUTATION_H_

#include <cstdint>
#include <utility>

#include "tra/base/philox.h"

namespace tra {

// Permutes [0, size) by draws from the stream, which has a word for every round; each epoch has an order of its own. A
// Feistel network permutes the numbers below the next power of four, and a result outside [0, size) is permuted again
// until it falls inside. The power of four is at most 4 * size, so that takes at most four turns on average. Four
// rounds make a good permutation of many numbers; few numbers need more.
inline uint64_t Permute(uint64_t value, uint64_t size, uint64_t seed, uint64_t epoch, Stream stream) {
  uint32_t half_bits = 1;
  while ((uint64_t{1} << (2 * half_bits)) < size) ++half_bits;
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  do {
    uint64_t left = value >> half_bits, right = value & mask;
    for (uint32_t word = FirstOf(stream); word <= LastOf(stream); ++word) {
      const auto drawn = DrawWords(
          seed, word, {static_cast<uint32_t>(right), static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)});
      const uint64_t mixed = (static_cast<uint64_t>(drawn[0]) << 32 | drawn[1]) & mask;
      left = std::exchange(right, left ^ mixed);
    }
    value = left << half_bits | right;
  } while (value >= size);
  return value;
}

}  // namespace tra

#endif  // TRA_BASE_PERMUTATION_H_
