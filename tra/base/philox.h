// Implements Philox4x32-10 (Salmon et al., SC 2011), a counter-based generator: whatever is drawn is a pure function of
// the seed and of the place it is drawn for. The vectorised version is in tra/kernels/philox-inl.h.
#ifndef TRA_BASE_PHILOX_H_
#define TRA_BASE_PHILOX_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "tra/base/streams.h"

namespace tra {

constexpr int kPhiloxRounds = 10;
constexpr uint32_t kPhiloxMul0 = 0xD2511F53u;
constexpr uint32_t kPhiloxMul1 = 0xCD9E8D57u;
constexpr uint32_t kPhiloxBump0 = 0x9E3779B9u;
constexpr uint32_t kPhiloxBump1 = 0xBB67AE85u;

inline std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(kPhiloxMul0) * counter[0];
    const uint64_t product1 = static_cast<uint64_t>(kPhiloxMul1) * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += kPhiloxBump0;
    key[1] += kPhiloxBump1;
  }
  return counter;
}

// Draws four words of a stream, for a place of up to 96 bits.
inline std::array<uint32_t, 4> DrawWords(uint64_t seed, uint32_t stream, std::array<uint32_t, 3> place) {
  return Philox({place[0], place[1], place[2], stream},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}
inline std::array<uint32_t, 4> DrawWords(uint64_t seed, Stream stream, std::array<uint32_t, 3> place) {
  return DrawWords(seed, FirstOf(stream), place);
}

// Derives the seed of part `which` of a whole from the seed of the whole.
inline uint64_t SeedOf(uint64_t seed, uint64_t which) {
  const std::array<uint32_t, 4> words =
      DrawWords(seed, Stream::kSeeds, {static_cast<uint32_t>(which), static_cast<uint32_t>(which >> 32), 0});
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

// Returns the seed of the sequence in row `row` of a batch. It depends on the id of the sequence only, so that what is
// drawn does not depend on how sequences are batched. Without sequence_ids the ids are 0, 1, 2, ...
inline uint64_t SequenceSeed(uint64_t seed, const int64_t* sequence_ids, size_t row) {
  return SeedOf(seed, sequence_ids == nullptr ? row : static_cast<uint64_t>(sequence_ids[row]));
}

}  // namespace tra

#endif  // TRA_BASE_PHILOX_H_
