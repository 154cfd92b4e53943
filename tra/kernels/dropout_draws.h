// What dropout draws: which elements and which pairs of query and key are dropped, as pure functions of the seed and
// the place. The vector twins are in dropout-inl.h and attention/dropout_masks-inl.h.
#ifndef TRA_KERNELS_DROPOUT_DRAWS_H_
#define TRA_KERNELS_DROPOUT_DRAWS_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tra/base/philox.h"

namespace tra {

// One Philox call decides eight neighbouring keys with 16 bits each.
constexpr size_t kKeysPerPhilox = 8;

// Draws for the eight keys around `key`, for a query at `position` of the sequence whose seed this is.
inline std::array<uint32_t, 4> DropoutWords(uint64_t seed, size_t head, size_t position, size_t key) {
  return DrawWords(
      seed, Stream::kAttentionDropout,
      {static_cast<uint32_t>(position), static_cast<uint32_t>(key / kKeysPerPhilox), static_cast<uint32_t>(head)});
}

// Returns the bits of one of these keys: key 2w + half takes that half of word w.
inline uint32_t DropoutBits(const std::array<uint32_t, 4>& words, size_t key) {
  return (words[(key % kKeysPerPhilox) / 2] >> (16 * (key % 2))) & 0xFFFFu;
}

inline uint32_t DropoutBits(uint64_t seed, size_t head, size_t position, size_t key) {
  return DropoutBits(DropoutWords(seed, head, position, key), key);
}

// Returns the bound below which bits drop their place. Any p above 0, however small, drops some.
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

inline uint32_t ElementDropoutBits(uint64_t seed, uint64_t element) {
  const uint64_t call = element / kDropoutBlock * kDropoutLanes + element % kDropoutLanes;
  const uint64_t draw = element % kDropoutBlock / kDropoutLanes;
  const std::array<uint32_t, 4> words =
      DrawWords(seed, Stream::kElementDropout, {static_cast<uint32_t>(call), static_cast<uint32_t>(call >> 32), 0});
  return (words[draw / 2] >> (16 * (draw % 2))) & 0xFFFFu;
}

inline bool ElementDropped(uint64_t seed, float p, uint64_t element) {
  return ElementDropoutBits(seed, element) < DropoutThreshold(p);
}

}  // namespace tra

#endif  // TRA_KERNELS_DROPOUT_DRAWS_H_
