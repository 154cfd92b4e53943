// Philox4x32-10 (Salmon et al., SC 2011): a counter-based generator, so that the dropout mask is a pure function of the
// seed and the place. The vector twin is in philox-inl.h.
#ifndef TRA_KERNELS_PHILOX_H_
#define TRA_KERNELS_PHILOX_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

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

// A seed for part `which` of what `seed` is the seed of.
inline uint64_t SeedOf(uint64_t seed, uint64_t which) {
  constexpr uint32_t kSeeds = 2;  // keeps these draws apart from those of dropout under the same seed
  const std::array<uint32_t, 4> words =
      Philox({static_cast<uint32_t>(which), static_cast<uint32_t>(which >> 32), 0, kSeeds},
             {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

// Returns the seed of a batch's sequence, by its id: what is drawn for a sequence does not depend on where in which
// batch it is computed. Without sequence_ids they are 0, 1, 2, ...
inline uint64_t SequenceSeed(uint64_t seed, const int64_t* sequence_ids, size_t row) {
  return SeedOf(seed, sequence_ids == nullptr ? row : static_cast<uint64_t>(sequence_ids[row]));
}

// One Philox call decides eight neighbouring keys with 16 bits each.
constexpr size_t kKeysPerPhilox = 8;

// The draws of eight keys of one sequence, whose seed this is: (query position, key / 8, head, 0) is the counter.
inline std::array<uint32_t, 4> DropoutWords(uint64_t seed, size_t head, size_t position, size_t key) {
  return Philox(
      {static_cast<uint32_t>(position), static_cast<uint32_t>(key / kKeysPerPhilox), static_cast<uint32_t>(head), 0},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

// Of one of them: key 2w + half takes that half of word w.
inline uint32_t DropoutBits(const std::array<uint32_t, 4>& words, size_t key) {
  return (words[(key % kKeysPerPhilox) / 2] >> (16 * (key % 2))) & 0xFFFFu;
}

inline uint32_t DropoutBits(uint64_t seed, size_t head, size_t position, size_t key) {
  return DropoutBits(DropoutWords(seed, head, position, key), key);
}

// A place is dropped when its bits are below this. A wish for some dropout, however small, gives some.
inline uint32_t DropoutThreshold(float p) {
  if (!(p > 0.0f)) return 0;
  const auto threshold = static_cast<uint32_t>(std::lround(p * 65536.0f));
  return threshold == 0 ? 1 : threshold;
}

inline bool Dropped(uint64_t seed, float p, size_t head, size_t position, size_t key) {
  return DropoutBits(seed, head, position, key) < DropoutThreshold(p);
}

// Dropout of the elements of a sequence, for everything but attention. Sixteen neighbouring Philox calls decide a
// block: draw d of lane l is element 16 d + l, so that vectors of up to sixteen lanes need no shuffles.
constexpr size_t kDropoutLanes = 16;
constexpr size_t kDropoutBlock = 8 * kDropoutLanes;

// (call, call >> 32, 0, 1) is the counter: the 1 keeps these draws apart from those of attention under the same seed.
inline uint32_t ElementDropoutBits(uint64_t seed, uint64_t element) {
  const uint64_t call = element / kDropoutBlock * kDropoutLanes + element % kDropoutLanes;
  const uint64_t draw = element % kDropoutBlock / kDropoutLanes;
  const std::array<uint32_t, 4> words = Philox({static_cast<uint32_t>(call), static_cast<uint32_t>(call >> 32), 0, 1},
                                               {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return (words[draw / 2] >> (16 * (draw % 2))) & 0xFFFFu;
}

inline bool ElementDropped(uint64_t seed, float p, uint64_t element) {
  return ElementDropoutBits(seed, element) < DropoutThreshold(p);
}

}  // namespace tra

#endif  // TRA_KERNELS_PHILOX_H_
