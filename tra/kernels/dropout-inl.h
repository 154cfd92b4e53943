// Computes the dropout mask of sequences as factors to multiply their elements by.
#include "tra/kernels/dropout.h"

#if defined(TRA_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_DROPOUT_INL_H_
#undef TRA_KERNELS_DROPOUT_INL_H_
#else
#define TRA_KERNELS_DROPOUT_INL_H_
#endif

#include <algorithm>

#include "tra/kernels/philox-inl.h"
#include "tra/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Computes the factors block by block and keeps those of the current block. Each task needs its own instance.
class DropoutFactors {
 public:
  // `elements` is the size of the whole array.
  DropoutFactors(const DropoutOptions& options, size_t elements)
      : options_(options),
        size_(elements / Divisor(options)),
        threshold_(DropoutThreshold(options.p)),
        keep_scale_(1.0f / (1.0f - options.p)) {}

  // Calls body(c, access, factors) for pieces of at most one vector that together cover 0..n-1; `factors` belong to the
  // elements first + c, first + c + 1, ... of the array. Without dropout they are 1.
  template <typename Body>
  HWY_INLINE void ForEach(size_t first, size_t n, const Body& body) {
    const DF df;
    if (threshold_ == 0) {
      ForEachVector(n, [&](size_t c, const auto& access) HWY_ATTR { body(c, access, hn::Set(df, 1.0f)); });
      return;
    }
    for (size_t done = 0; done < n;) {
      const size_t at = first + done;
      if (at < begin_ || at >= end_) FindSequence(at);
      const size_t element = at - begin_, in_block = element % kDropoutBlock;
      const size_t count = std::min({n - done, kDropoutBlock - in_block, end_ - at});
      Fill(element / kDropoutBlock);
      ForEachVector(count, [&](size_t c, const auto& access)
                               HWY_ATTR { body(done + c, access, hn::LoadU(df, factors_ + in_block + c)); });
      done += count;
    }
  }

 private:
  static size_t Divisor(const DropoutOptions& options) {
    if (options.offsets == nullptr) return options.sequences;
    return static_cast<size_t>(std::max(1, options.offsets[options.sequences]));
  }

  // Moves on to the sequence of this element of the array.
  void FindSequence(size_t at) {
    size_t row = at / size_;  // the token, in a flat batch
    begin_ = row * size_;
    end_ = begin_ + size_;
    if (const int32_t* offsets = options_.offsets) {
      const int32_t* next = std::upper_bound(offsets, offsets + options_.sequences + 1, static_cast<int32_t>(row));
      row = static_cast<size_t>(next - offsets) - 1;
      begin_ = static_cast<size_t>(next[-1]) * size_;
      end_ = static_cast<size_t>(next[0]) * size_;
    }
    seed_ = SequenceSeed(options_.seed, options_.sequence_ids, row);
    block_ = kNoBlock;
  }

  // Computes the factors of a block of the current sequence.
  HWY_INLINE void Fill(size_t block) {
    if (block == block_) return;
    block_ = block;
    const DU du;
    const DF df;
    const VF keep = hn::Set(df, keep_scale_);
    const VU threshold = hn::Set(du, threshold_);
    const VU half = hn::Set(du, 0xFFFFu);
    constexpr size_t kVectors = kDropoutLanes / kLanes;
    VU words[4][kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      // The sixteen calls of a block never carry into the upper half of the counter.
      const uint64_t call = uint64_t{block} * kDropoutLanes + v * kLanes;
      words[0][v] = CountFrom(du, static_cast<uint32_t>(call));
      words[1][v] = hn::Set(du, static_cast<uint32_t>(call >> 32));
      words[2][v] = hn::Zero(du);
      words[3][v] = hn::Set(du, FirstOf(Stream::kElementDropout));
    }
    PhiloxRounds(seed_, words);
    for (size_t w = 0; w < 4; ++w) {
      for (size_t v = 0; v < kVectors; ++v) {
        float* HWY_RESTRICT to = factors_ + 2 * w * kDropoutLanes + v * kLanes;
        const auto dropped = [&](VU bits) HWY_ATTR { return hn::RebindMask(df, hn::Lt(bits, threshold)); };
        hn::Store(hn::IfThenZeroElse(dropped(hn::And(words[w][v], half)), keep), df, to);
        hn::Store(hn::IfThenZeroElse(dropped(hn::ShiftRight<16>(words[w][v])), keep), df, to + kDropoutLanes);
      }
    }
  }

  // Has room past the block, because a partial vector at its end is loaded as a whole one.
  HWY_ALIGN float factors_[kDropoutBlock + kDropoutLanes] = {};
  const DropoutOptions options_;
  const size_t size_;  // elements per sequence; in a flat batch, per token
  const uint32_t threshold_;
  const float keep_scale_;
  static constexpr size_t kNoBlock = ~size_t{0};
  size_t begin_ = 0, end_ = 0;  // the elements of the current sequence
  uint64_t seed_ = 0;           // its seed
  size_t block_ = kNoBlock;     // its block that factors_ belongs to
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_DROPOUT_INL_H_
