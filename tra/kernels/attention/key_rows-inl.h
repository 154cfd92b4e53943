// Describes the keys of one block as a tile of queries sees them.
#if defined(TRA_KERNELS_ATTENTION_KEY_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_KEY_ROWS_INL_H_
#undef TRA_KERNELS_ATTENTION_KEY_ROWS_INL_H_
#else
#define TRA_KERNELS_ATTENTION_KEY_ROWS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Score row r belongs to key first_key + Offset(r).
struct KeyRows {
  size_t first_key = 0;
  size_t rows = 0;
  const uint16_t* list = nullptr;  // offsets of the keys, ascending; null: 0, 1, 2, ...
  ptrdiff_t first_position = 0;    // position of the tile's first query; all its queries see the keys up to it
  const uint32_t* bits = nullptr;  // DropoutBits per (key, lane), or null
  uint32_t drop_below = 0;
  const float* scales = nullptr;  // what QK-norm multiplies each key by, indexed by offset, or null

  size_t Offset(size_t r) const { return list != nullptr ? list[r] : r; }

  // Returns the first row whose key comes after some query of the tile, which must not see it.
  size_t FirstDiagonal() const {
    const ptrdiff_t visible = first_position + 1 - static_cast<ptrdiff_t>(first_key);  // every query sees offsets below
    if (visible <= 0) return 0;
    if (list == nullptr) return static_cast<size_t>(visible) < rows ? static_cast<size_t>(visible) : rows;
    size_t r = rows;
    while (r > 0 && static_cast<ptrdiff_t>(list[r - 1]) >= visible) --r;
    return r;
  }

  // Returns the lanes whose query comes before the key of row r and must not see it.
  HWY_INLINE MF Future(size_t r, VF lanes) const {
    const ptrdiff_t key = static_cast<ptrdiff_t>(first_key + Offset(r));
    return hn::Lt(lanes, hn::Set(DF(), static_cast<float>(key - first_position)));
  }

  // Returns what turns the dot products of row r into logits.
  HWY_INLINE VF Scale(size_t r, VF of_queries) const {
    return scales == nullptr ? of_queries : hn::Mul(of_queries, hn::Set(DF(), scales[Offset(r)]));
  }

  HWY_INLINE MF DroppedOut(size_t r, size_t v) const {
    const DU du;
    const VU drawn = hn::Load(du, bits + Offset(r) * kTile + v * kLanes);
    // Compared as signed integers, which every target can do: both are below 2^17.
    const hn::RebindToSigned<DF> di;
    return hn::RebindMask(DF(), hn::Lt(hn::BitCast(di, drawn), hn::Set(di, static_cast<int32_t>(drop_below))));
  }
};

// Calls at(r, std::integral_constant<bool, diagonal>) for every row, right to left; `diagonal` is true from
// FirstDiagonal on.
template <class At>
HWY_INLINE void RightToLeft(const KeyRows& keys, const At& at) {
  const size_t diagonal = keys.FirstDiagonal();
  for (size_t r = keys.rows; r > diagonal; --r) at(r - 1, std::true_type());
  for (size_t r = diagonal; r > 0; --r) at(r - 1, std::false_type());
}

// Lists the rows in which any score of the tile passes the threshold, and returns their number. NaN passes.
HWY_INLINE size_t LiveRows(const float* HWY_RESTRICT s, size_t rows, uint16_t* HWY_RESTRICT list) {
  const DF df;
  const VF zero = hn::Zero(df);
  size_t live = 0;
  for (size_t r = 0; r < rows; ++r) {
    const float* HWY_RESTRICT at = s + r * kTile;
    const MF dead01 = hn::And(hn::Le(hn::Load(df, at), zero), hn::Le(hn::Load(df, at + kLanes), zero));
    const MF dead = hn::And(dead01, hn::Le(hn::Load(df, at + 2 * kLanes), zero));
    list[live] = static_cast<uint16_t>(r);
    live += hn::AllTrue(df, dead) ? 0 : 1;
  }
  return live;
}

// Sets s[r] = s[list[r]], in place: list ascends, so list[r] >= r.
HWY_INLINE void CompactRows(const uint16_t* list, size_t live, float* s) {
  for (size_t r = 0; r < live; ++r) {
    if (list[r] != r) std::memcpy(s + r * kTile, s + list[r] * kTile, kTile * sizeof(float));
  }
}

// Removes the rows of `keys` that no query of the tile keeps, if there are enough of them to be worth an indirection.
HWY_INLINE void SelectLiveRows(KeyRows& keys, float* scores, uint16_t* list) {
  const size_t live = LiveRows(scores, keys.rows, list);
  if (4 * live >= 3 * keys.rows) return;
  CompactRows(list, live, scores);
  keys.rows = live;
  keys.list = list;
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_KEY_ROWS_INL_H_
