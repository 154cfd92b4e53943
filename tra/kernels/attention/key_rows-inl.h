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

constexpr size_t kMaskBytes = (kLanes + 7) / 8;  // of the bits of one vector
constexpr size_t kMaskRow = kVecs * kMaskBytes;

// Score row r belongs to key first_key + Offset(r).
struct KeyRows {
  size_t first_key = 0;
  size_t rows = 0;
  const uint16_t* list = nullptr;  // offsets of the keys, ascending; null: 0, 1, 2, ...
  ptrdiff_t first_position = 0;    // position of the tile's first query; all its queries see the keys up to it
  // The pairs that dropout drops, or null: one bit per lane, kMaskBytes per vector, kMaskRow per key.
  const uint8_t* dropped = nullptr;
  const float* scales = nullptr;  // what QK-norm multiplies each key by, indexed by offset, or null
  size_t vecs = kVecs;            // vectors of the tile that hold queries
  // Some query of vector v may see the rows before end[v]; those from there on come after all of them, so that their
  // scores are not computed and their weights are 0. A multiple of kDotRows, or `rows`.
  size_t end[kVecs] = {};

  // Sets vecs and end for a tile of this many queries.
  void FindEnds(size_t queries) {
    vecs = (queries + kLanes - 1) / kLanes;
    for (size_t v = 0; v < kVecs; ++v) {
      const size_t seen = RowsUpTo(first_position + static_cast<ptrdiff_t>((v + 1) * kLanes) - 1);
      const size_t rounded = (seen + kDotRows - 1) / kDotRows * kDotRows;
      end[v] = rounded < rows ? rounded : rows;
    }
  }

  size_t Offset(size_t r) const { return list != nullptr ? list[r] : r; }

  // Returns the number of rows whose key is at this position or before.
  size_t RowsUpTo(ptrdiff_t position) const {
    const ptrdiff_t offsets = position + 1 - static_cast<ptrdiff_t>(first_key);
    if (offsets <= 0) return 0;
    if (list == nullptr) return static_cast<size_t>(offsets) < rows ? static_cast<size_t>(offsets) : rows;
    size_t r = rows;
    while (r > 0 && static_cast<ptrdiff_t>(list[r - 1]) >= offsets) --r;
    return r;
  }
  // Returns the first row whose key comes after some query of the tile, which must not see it.
  size_t FirstDiagonal() const { return RowsUpTo(first_position); }

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
    return hn::LoadMaskBits(DF(), dropped + Offset(r) * kMaskRow + v * kMaskBytes);
  }
};

// Calls at(r, std::integral_constant<bool, diagonal>) for every row that vector v may see, right to left; `diagonal` is
// true from FirstDiagonal on.
template <class At>
HWY_INLINE void RightToLeft(const KeyRows& keys, size_t v, const At& at) {
  const size_t diagonal = keys.FirstDiagonal();
  for (size_t r = keys.end[v]; r > diagonal; --r) at(r - 1, std::true_type());
  for (size_t r = diagonal; r > 0; --r) at(r - 1, std::false_type());
}

// Sets the rows that vector v does not see to zero.
HWY_INLINE void ZeroUnseen(const KeyRows& keys, size_t v, float* HWY_RESTRICT s) {
  for (size_t r = keys.end[v]; r < keys.rows; ++r) hn::Store(hn::Zero(DF()), DF(), s + r * kTile + v * kLanes);
}

// Calls of(begin, first row, end row) for the rows whose scores are computed from vector `begin` on.
template <class Of>
HWY_INLINE void ForEachSegment(const KeyRows& keys, const Of& of) {
  size_t first = 0;
  for (size_t begin = 0; begin < keys.vecs; ++begin) {
    if (keys.end[begin] > first) of(begin, first, keys.end[begin]);
    first = keys.end[begin] > first ? keys.end[begin] : first;
  }
}

// Lists the rows in which any score of the tile passes the threshold, and returns their number. NaN passes.
HWY_INLINE size_t LiveRows(const KeyRows& keys, const float* HWY_RESTRICT s, uint16_t* HWY_RESTRICT list) {
  const DF df;
  const VF zero = hn::Zero(df);
  size_t live = 0;
  ForEachSegment(keys, [&](size_t begin, size_t first, size_t last) HWY_ATTR {
    for (size_t r = first; r < last; ++r) {
      MF dead = hn::Le(hn::Load(df, s + r * kTile + begin * kLanes), zero);
      for (size_t v = begin + 1; v < keys.vecs; ++v) {
        dead = hn::And(dead, hn::Le(hn::Load(df, s + r * kTile + v * kLanes), zero));
      }
      list[live] = static_cast<uint16_t>(r);
      live += hn::AllTrue(df, dead) ? 0 : 1;
    }
  });
  return live;
}

// Sets s[r] = s[list[r]], in place: list ascends, so list[r] >= r.
HWY_INLINE void CompactRows(const uint16_t* list, size_t live, float* s) {
  for (size_t r = 0; r < live; ++r) {
    if (list[r] != r) std::memcpy(s + r * kTile, s + list[r] * kTile, kTile * sizeof(float));
  }
}

// Removes the rows of `keys` that no query of the tile keeps, if there are enough of them to be worth an indirection.
HWY_INLINE void SelectLiveRows(KeyRows& keys, size_t queries, float* scores, uint16_t* list) {
  const size_t live = LiveRows(keys, scores, list);
  if (4 * live >= 3 * keys.rows) return;
  CompactRows(list, live, scores);
  keys.rows = live;
  keys.list = list;
  keys.FindEnds(queries);
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_KEY_ROWS_INL_H_
