// Decides which pairs of a query and a key are dropped.
#if defined(TRA_KERNELS_ATTENTION_DROPOUT_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_DROPOUT_BITS_INL_H_
#undef TRA_KERNELS_ATTENTION_DROPOUT_BITS_INL_H_
#else
#define TRA_KERNELS_ATTENTION_DROPOUT_BITS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/products-inl.h"
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

  // Returns the threshold: a pair is dropped if its bits are below it. It is 0 without dropout.
  uint32_t DropBelow() const { return drop_below_; }
  // Returns memory for Draw, or none where nothing is drawn.
  Floats AllocateBits() const {
    return drop_below_ == 0 ? Floats() : AllocateFloats((kKeyBlock + kKeysPerPhilox) * kTile);
  }

  // Returns the bits [rows][kTile] of up to kKeyBlock keys from `first_key` on, for the tile of queries that starts at
  // `first_position`; null without dropout. first_key need not be a multiple of kKeysPerPhilox.
  const uint32_t* Draw(size_t batch, size_t head, size_t first_position, size_t first_key, size_t rows,
                       const Floats& memory) const {
    if (drop_below_ == 0) return nullptr;
    auto* bits = reinterpret_cast<uint32_t*>(memory.get());
    const size_t aligned = first_key / kKeysPerPhilox * kKeysPerPhilox;
    DropoutBitsTile(SequenceSeed(seed_, sequence_ids_, batch), head, first_position, aligned,
                    first_key + rows - aligned, bits);
    return bits + (first_key - aligned) * kTile;
  }

 private:
  uint64_t seed_;
  const int64_t* sequence_ids_;
  uint32_t drop_below_;
};

// Calls at(r, lane) for each kept key that logit dropout set to 0, right to left. All keys must come before all
// queries.
template <class At>
HWY_INLINE void ForEachDroppedKept(const uint32_t* bits, uint32_t drop_below, size_t rows, size_t queries,
                                   const float* q_t, const float* keys, size_t width, size_t stride, const At& at) {
  const DU du;
  const hn::RebindToSigned<DF> di;  // every target can compare signed integers; both are below 2^17
  const auto below = hn::Set(di, static_cast<int32_t>(drop_below));
  for (size_t r = rows; r-- > 0;) {
    for (size_t v = 0; v < kVecs; ++v) {
      const auto dropped = hn::Lt(hn::BitCast(di, hn::Load(du, bits + r * kTile + v * kLanes)), below);
      if (HWY_LIKELY(hn::AllFalse(di, dropped))) continue;
      for (size_t lane = v * kLanes; lane < (v + 1) * kLanes && lane < queries; ++lane) {
        if (bits[r * kTile + lane] >= drop_below) continue;
        if (!(DotLane(keys + r * stride, q_t, lane, width) <= 0.0f)) at(r, lane);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_DROPOUT_BITS_INL_H_
