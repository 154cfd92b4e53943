// Decides which pairs of a query and a key are dropped.
#if defined(TRA_KERNELS_ATTENTION_DROPOUT_MASKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_DROPOUT_MASKS_INL_H_
#undef TRA_KERNELS_ATTENTION_DROPOUT_MASKS_INL_H_
#else
#define TRA_KERNELS_ATTENTION_DROPOUT_MASKS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/products-inl.h"
#include "tra/kernels/attention/rule_softmax-inl.h"
#include "tra/kernels/attention/scoring.h"
#include "tra/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

class DropoutDraws {
 public:
  DropoutDraws(const AttentionOptions& options, const Scoring& scoring)
      : seed_(options.seed),
        sequence_ids_(options.sequence_ids),
        drop_below_(scoring.dropout == DropoutOn::kNone ? 0 : DropoutThreshold(options.dropout_p)) {}

  // Returns memory for Draw, or none where nothing is drawn.
  Bytes AllocateMasks() const {
    // Highway may read and write whole words of 8 bytes.
    return drop_below_ == 0 ? Bytes() : AllocateBytes((kKeyBlock + kKeysPerPhilox) * kMaskRow + 8);
  }

  // Draws for a tile of queries and up to kKeyBlock keys from `first_key` on. Returns the masks of what is dropped, see
  // KeyRows::dropped, or null without dropout. first_key need not be a multiple of kKeysPerPhilox.
  HWY_NOINLINE const uint8_t* Draw(const TilePlace& place, size_t first_key, size_t rows, const Bytes& memory) const {
    if (drop_below_ == 0) return nullptr;
    const size_t aligned = first_key / kKeysPerPhilox * kKeysPerPhilox;
    const uint64_t seed = SequenceSeed(seed_, sequence_ids_, place.batch);
    const auto draw = [&](auto vectors, size_t v) HWY_ATTR {
      for (size_t key = aligned; key < first_key + rows; key += kKeysPerPhilox) {
        DrawKeys<decltype(vectors)::value>(seed, place, v, key, memory.get() + (key - aligned) * kMaskRow);
      }
    };
    const size_t vecs = DivideUp(place.queries, kLanes);
    if constexpr (kManyRegisters) {
      WithVectors(0, vecs, [&](auto /*from*/, auto to) HWY_ATTR { draw(to, 0); });
    } else {
      for (size_t v = 0; v < vecs; ++v) draw(std::integral_constant<size_t, 1>(), v);
    }
    return memory.get() + (first_key - aligned) * kMaskRow;
  }

 private:
  // Draws for the kKeysPerPhilox keys from `key` on and kVectors vectors of the queries, from vector `first` on.
  template <size_t kVectors>
  HWY_INLINE void DrawKeys(uint64_t seed, const TilePlace& place, size_t first, size_t key, uint8_t* masks) const {
    const DU du;
    const hn::RebindToSigned<DF> di;  // every target can compare signed integers; both are below 2^17
    VU words[4][kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      words[0][v] = CountFrom(du, static_cast<uint32_t>(place.first_position + (first + v) * kLanes));
      words[1][v] = hn::Set(du, static_cast<uint32_t>(key / kKeysPerPhilox));
      words[2][v] = hn::Set(du, static_cast<uint32_t>(place.head));
      words[3][v] = hn::Set(du, FirstOf(Stream::kAttentionDropout));
    }
    PhiloxRounds(seed, words);
    for (size_t v = 0; v < kVectors; ++v) {
      const auto store = [&](VU bits, size_t r) HWY_ATTR {
        const auto dropped = hn::Lt(hn::BitCast(di, bits), hn::Set(di, static_cast<int32_t>(drop_below_)));
        hn::StoreMaskBits(di, dropped, masks + r * kMaskRow + (first + v) * kMaskBytes);
      };
      for (size_t w = 0; w < 4; ++w) {
        store(hn::And(words[w][v], hn::Set(du, 0xFFFFu)), 2 * w);
        store(hn::ShiftRight<16>(words[w][v]), 2 * w + 1);
      }
    }
  }

  uint64_t seed_;
  const int64_t* sequence_ids_;
  uint32_t drop_below_;  // a pair is dropped if its bits are below this; 0 without dropout
};

// Calls at(r, lane) for each kept key that logit dropout set to 0, right to left. All keys must come before all
// queries.
template <class At>
HWY_INLINE void ForEachDroppedKept(const uint8_t* dropped, size_t rows, size_t queries, const float* q_t,
                                   const float* keys, size_t width, size_t stride, const At& at) {
  struct Pair {
    uint32_t r, lane;
    float score;
  };
  Pair pairs[2 * kTile];
  size_t n = 0;
  // Scores of several pairs are computed before any is looked at: each is a chain that waits for itself only.
  const auto visit = [&]() HWY_ATTR {
    for (size_t i = 0; i < n; ++i) {
      pairs[i].score = DotLane(keys + pairs[i].r * stride, q_t, pairs[i].lane, width);
    }
    for (size_t i = 0; i < n; ++i) {
      if (!(pairs[i].score <= 0.0f)) at(pairs[i].r, pairs[i].lane);
    }
    n = 0;
  };
  static_assert(kMaskRow <= sizeof(uint64_t));
  constexpr size_t kBits = HWY_MAX(kLanes, size_t{8});  // bits per vector of lanes
  const size_t drawn = DivideUp(queries, kLanes) * kMaskBytes;
  for (size_t r = rows; r-- > 0;) {
    uint64_t mask = 0;
    std::memcpy(&mask, dropped + r * kMaskRow, drawn);
    for (; mask != 0; mask &= mask - 1) {
      const size_t bit = hwy::Num0BitsBelowLS1Bit_Nonzero64(mask);
      const size_t lane = bit / kBits * kLanes + bit % kBits;
      if (lane < queries) pairs[n++] = {static_cast<uint32_t>(r), static_cast<uint32_t>(lane), 0.0f};
    }
    if (n > kTile) visit();
  }
  visit();
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_DROPOUT_MASKS_INL_H_
