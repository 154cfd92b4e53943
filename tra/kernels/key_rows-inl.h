// The keys of one block as a tile of queries sees them.
#if defined(TRA_KERNELS_KEY_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_KEY_ROWS_INL_H_
#undef TRA_KERNELS_KEY_ROWS_INL_H_
#else
#define TRA_KERNELS_KEY_ROWS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Score row r belongs to key first_key + Offset(r).
struct KeyRows {
  size_t first_key;
  size_t rows;
  const uint16_t* list;      // ascending, or null
  ptrdiff_t first_position;  // of the tile's queries; keys behind it are visible to all of them
  const uint32_t* bits;      // DropoutBits per (key, lane), or null
  uint32_t drop_below;
  const float* scales;  // what QK-norm multiplies each key by, by offset, or null
  const float* terms;   // what the rule takes from its own input: see the rule
  const float* near;    // kForget: [kTile][kTile], for the keys at the tile's own positions: what each query adds
  float* d_terms;       // backward only
  size_t table;         // AttentionShape's

  size_t Offset(size_t r) const { return list != nullptr ? list[r] : r; }

  // Rows from here on hold keys that some queries of the tile stand before.
  size_t FirstDiagonal() const {
    const ptrdiff_t visible = first_position + 1 - static_cast<ptrdiff_t>(first_key);  // offsets below it
    if (visible <= 0) return 0;
    if (list == nullptr) return static_cast<size_t>(visible) < rows ? static_cast<size_t>(visible) : rows;
    size_t r = rows;
    while (r > 0 && static_cast<ptrdiff_t>(list[r - 1]) >= visible) --r;
    return r;
  }

  // Lanes before this one stand before key row r.
  HWY_INLINE MF Future(size_t r, VF lanes) const {
    const ptrdiff_t key = static_cast<ptrdiff_t>(first_key + Offset(r));
    return hn::Lt(lanes, hn::Set(DF(), static_cast<float>(key - first_position)));
  }

  // From the dot products of row r to logits.
  HWY_INLINE VF Scale(size_t r, VF of_queries) const {
    return scales == nullptr ? of_queries : hn::Mul(of_queries, hn::Set(DF(), scales[Offset(r)]));
  }

  HWY_INLINE MF DroppedOut(size_t r, size_t v) const {
    const DU du;
    const VU drawn = hn::Load(du, bits + Offset(r) * kTile + v * kLanes);
    // Compared as signed, which every target can: both are below 2^17.
    const hn::RebindToSigned<DF> di;
    return hn::RebindMask(DF(), hn::Lt(hn::BitCast(di, drawn), hn::Set(di, static_cast<int32_t>(drop_below))));
  }
};

// Calls at(r, std::integral_constant<bool, diagonal>) for every row, right to left.
template <class At>
HWY_INLINE void RightToLeft(const KeyRows& keys, const At& at) {
  const size_t diagonal = keys.FirstDiagonal();
  for (size_t r = keys.rows; r > diagonal; --r) at(r - 1, std::true_type());
  for (size_t r = diagonal; r > 0; --r) at(r - 1, std::false_type());
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_KEY_ROWS_INL_H_
