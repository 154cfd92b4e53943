// The three small matrix products that all of attention is made of, and the packing that feeds them.
//
//   DotTile         s[row][query]   = a[row][:] . b[:][query]              scores, and dP in the backward
//   AccumulateTile  o[col][query]  += sum_row a[row][col] * p[row][query]  outputs, and dQ
//   OuterTile       out[row][col]  += sum_query p[row][query] * x[query][col]     dV and dK
//
// Rows are keys. Row lists select keys: a null list means rows 0, 1, 2, ...
#if defined(TRA_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_TILE_INL_H_
#undef TRA_KERNELS_TILE_INL_H_
#else
#define TRA_KERNELS_TILE_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/cache_control.h"
#include "tra/kernels/layout.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// ---------------------------------------------------------------- products

template <bool kListed>
HWY_INLINE size_t RowAt(const uint16_t* list, size_t r) {
  if constexpr (kListed) return list[r];
  (void)list;
  return r;
}

// Each score is one chain of fused multiply-adds over the channels, in order, whatever the tile: the backward gets the
// same bits as the forward, and so the same mask. `rows` is rounded up to kDotRows; s has room for that.
template <bool kListed>
HWY_INLINE void DotTileImpl(const float* HWY_RESTRICT a, const uint16_t* HWY_RESTRICT list, size_t rows, size_t width,
                            size_t stride, const float* HWY_RESTRICT b, float* HWY_RESTRICT s) {
  const DF df;
  for (size_t r = 0; r < rows; r += kDotRows) {
    const float* row[kDotRows];
    for (size_t i = 0; i < kDotRows; ++i) {
      // Past the end of a list any row will do; nobody reads its scores.
      row[i] = a + (kListed && r + i >= rows ? 0 : RowAt<kListed>(list, r + i)) * stride;
    }
    VF sum[kDotRows][kVecs];
    for (auto& of_row : sum) {
      for (VF& each : of_row) each = hn::Zero(df);
    }
    for (size_t c = 0; c < width; ++c) {
      const VF b0 = hn::Load(df, b + c * kTile);
      const VF b1 = hn::Load(df, b + c * kTile + kLanes);
      const VF b2 = hn::Load(df, b + c * kTile + 2 * kLanes);
#pragma GCC unroll 8
      for (size_t i = 0; i < kDotRows; ++i) {
        const VF x = hn::Set(df, row[i][c]);
        sum[i][0] = hn::MulAdd(x, b0, sum[i][0]);
        sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
        sum[i][2] = hn::MulAdd(x, b2, sum[i][2]);
      }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kDotRows; ++i) {
      for (size_t v = 0; v < kVecs; ++v) hn::Store(sum[i][v], df, s + (r + i) * kTile + v * kLanes);
    }
  }
}

inline HWY_NOINLINE void DotTile(const float* a, const uint16_t* list, size_t rows, size_t width, size_t stride,
                                 const float* b, float* s) {
  if (list != nullptr) return DotTileImpl<true>(a, list, rows, width, stride, b, s);
  DotTileImpl<false>(a, nullptr, rows, width, stride, b, s);
}

// One score alone, with the bits DotTile gives it.
HWY_INLINE float DotLane(const float* HWY_RESTRICT row, const float* HWY_RESTRICT b, size_t lane, size_t width) {
  const hn::CappedTag<float, 1> d1;
  auto sum = hn::Zero(d1);
  for (size_t c = 0; c < width; ++c) sum = hn::MulAdd(hn::Set(d1, row[c]), hn::Set(d1, b[c * kTile + lane]), sum);
  return hn::GetLane(sum);
}

// o = o * alpha + product. The sum over a block starts from zero: summing blocks separately keeps long rows accurate.
// kSelect leaves out products with a zero weight, so that an Inf or NaN in a row nobody attends to cannot spread.
template <bool kListed, bool kSelect>
HWY_INLINE void AccumulateTileImpl(const float* HWY_RESTRICT a, const uint16_t* HWY_RESTRICT list, size_t rows,
                                   size_t width, size_t stride, const float* HWY_RESTRICT p,
                                   const float* HWY_RESTRICT alpha, float* HWY_RESTRICT o) {
  const DF df;
  const VF zero = hn::Zero(df);
  for (size_t c = 0; c < width; c += kDotRows) {
    VF sum[kDotRows][kVecs];
    for (auto& of_col : sum) {
      for (VF& each : of_col) each = zero;
    }
    for (size_t r = 0; r < rows; ++r) {
      const float* HWY_RESTRICT row = a + RowAt<kListed>(list, r) * stride + c;
      const VF p0 = hn::Load(df, p + r * kTile);
      const VF p1 = hn::Load(df, p + r * kTile + kLanes);
      const VF p2 = hn::Load(df, p + r * kTile + 2 * kLanes);
#pragma GCC unroll 8
      for (size_t i = 0; i < kDotRows; ++i) {
        const VF x = hn::Set(df, row[i]);
        if constexpr (kSelect) {
          sum[i][0] = hn::IfThenElse(hn::Eq(p0, zero), sum[i][0], hn::MulAdd(x, p0, sum[i][0]));
          sum[i][1] = hn::IfThenElse(hn::Eq(p1, zero), sum[i][1], hn::MulAdd(x, p1, sum[i][1]));
          sum[i][2] = hn::IfThenElse(hn::Eq(p2, zero), sum[i][2], hn::MulAdd(x, p2, sum[i][2]));
        } else {
          sum[i][0] = hn::MulAdd(x, p0, sum[i][0]);
          sum[i][1] = hn::MulAdd(x, p1, sum[i][1]);
          sum[i][2] = hn::MulAdd(x, p2, sum[i][2]);
        }
      }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kDotRows; ++i) {
      for (size_t v = 0; v < kVecs; ++v) {
        float* HWY_RESTRICT to = o + (c + i) * kTile + v * kLanes;
        hn::Store(hn::MulAdd(hn::Load(df, to), hn::Load(df, alpha + v * kLanes), sum[i][v]), df, to);
      }
    }
  }
}

inline HWY_NOINLINE void AccumulateTile(const float* a, const uint16_t* list, size_t rows, size_t width, size_t stride,
                                        const float* p, const float* alpha, bool select, float* o) {
  if (select) {
    if (list != nullptr) return AccumulateTileImpl<true, true>(a, list, rows, width, stride, p, alpha, o);
    return AccumulateTileImpl<false, true>(a, nullptr, rows, width, stride, p, alpha, o);
  }
  if (list != nullptr) return AccumulateTileImpl<true, false>(a, list, rows, width, stride, p, alpha, o);
  AccumulateTileImpl<false, false>(a, nullptr, rows, width, stride, p, alpha, o);
}

constexpr size_t kOuterRows = 6;
constexpr size_t kOuterVecs = kDotRows / 2;

template <size_t kRows, size_t kCols, bool kListed, bool kSelect>
HWY_INLINE void OuterBlock(const float* HWY_RESTRICT p, size_t queries, const float* HWY_RESTRICT x, size_t x_stride,
                           const uint16_t* HWY_RESTRICT list, size_t r, size_t c, size_t out_stride,
                           float* HWY_RESTRICT out) {
  const DF df;
  VF sum[kRows][kCols];
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kCols; ++j) {
      sum[i][j] = hn::Load(df, out + RowAt<kListed>(list, r + i) * out_stride + c + j * kLanes);
    }
  }
  const float* HWY_RESTRICT weights = p + r * kTile;
  for (size_t q = 0; q < queries; ++q) {
    VF xs[kCols];
    for (size_t j = 0; j < kCols; ++j) xs[j] = hn::Load(df, x + q * x_stride + c + j * kLanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < kRows; ++i) {
      const float weight = weights[i * kTile + q];
      if (kSelect && weight == 0.0f) continue;
      const VF w = hn::Set(df, weight);
      for (size_t j = 0; j < kCols; ++j) sum[i][j] = hn::MulAdd(w, xs[j], sum[i][j]);
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kCols; ++j) {
      hn::Store(sum[i][j], df, out + RowAt<kListed>(list, r + i) * out_stride + c + j * kLanes);
    }
  }
}

template <size_t kRows, bool kListed, bool kSelect>
HWY_INLINE void OuterRows(const float* p, size_t queries, const float* x, size_t x_stride, const uint16_t* list,
                          size_t r, size_t width, size_t out_stride, float* out) {
  size_t c = 0;
  for (; c + kOuterVecs * kLanes <= width; c += kOuterVecs * kLanes) {
    OuterBlock<kRows, kOuterVecs, kListed, kSelect>(p, queries, x, x_stride, list, r, c, out_stride, out);
  }
  for (; c < width; c += kLanes) {
    OuterBlock<kRows, 1, kListed, kSelect>(p, queries, x, x_stride, list, r, c, out_stride, out);
  }
}

template <bool kListed, bool kSelect>
HWY_INLINE void OuterTileImpl(const float* p, size_t rows, size_t queries, const float* x, size_t x_stride,
                              const uint16_t* list, size_t width, size_t out_stride, float* out) {
  size_t r = 0;
  for (; r + kOuterRows <= rows; r += kOuterRows) {
    OuterRows<kOuterRows, kListed, kSelect>(p, queries, x, x_stride, list, r, width, out_stride, out);
  }
  for (; r < rows; ++r) OuterRows<1, kListed, kSelect>(p, queries, x, x_stride, list, r, width, out_stride, out);
}

// `width` is rounded up to whole vectors; x and out are padded.
inline HWY_NOINLINE void OuterTile(const float* p, size_t rows, size_t queries, const float* x, size_t x_stride,
                                   const uint16_t* list, size_t width, size_t out_stride, bool select, float* out) {
  if (select) {
    if (list != nullptr) return OuterTileImpl<true, true>(p, rows, queries, x, x_stride, list, width, out_stride, out);
    return OuterTileImpl<false, true>(p, rows, queries, x, x_stride, nullptr, width, out_stride, out);
  }
  if (list != nullptr) return OuterTileImpl<true, false>(p, rows, queries, x, x_stride, list, width, out_stride, out);
  OuterTileImpl<false, false>(p, rows, queries, x, x_stride, nullptr, width, out_stride, out);
}

// ---------------------------------------------------------------- packing

HWY_INLINE float DotRows(const float* a, const float* b, size_t width) {
  const DF df;
  VF sum = hn::Zero(df);
  size_t c = 0;
  for (; c + kLanes <= width; c += kLanes) sum = hn::MulAdd(hn::LoadU(df, a + c), hn::LoadU(df, b + c), sum);
  float total = hn::GetLane(hn::SumOfLanes(df, sum));
  for (; c < width; ++c) total += a[c] * b[c];
  return total;
}

HWY_INLINE float SumOfSquares(const float* row, size_t width) { return DotRows(row, row, width); }

// What QK-norm multiplies a row by; 1 without it.
HWY_INLINE float NormScale(const float* row, size_t width, const Norm& norm) {
  if (!norm.on) return 1.0f;
  return 1.0f / std::sqrt(SumOfSquares(row, width) / static_cast<float>(width) + norm.eps);
}

// to[0..stride) = the row, zero-padded. Returns whether all of it was finite.
HWY_INLINE bool PackRow(const float* HWY_RESTRICT from, size_t width, size_t stride, float* HWY_RESTRICT to) {
  const DF df;
  const VF zero = hn::Zero(df);
  VF spoiled = zero;  // x * 0 is 0 only for finite x
  size_t c = 0;
  for (; c + kLanes <= width; c += kLanes) {
    const VF x = hn::LoadU(df, from + c);
    spoiled = hn::MulAdd(x, zero, spoiled);
    hn::Store(x, df, to + c);
  }
  float spoiled_tail = 0.0f;
  for (; c < width; ++c) {
    to[c] = from[c];
    spoiled_tail += to[c] * 0.0f;
  }
  for (; c < stride; ++c) to[c] = 0.0f;
  return spoiled_tail == 0.0f && hn::AllTrue(df, hn::Eq(spoiled, zero));
}

// PackRow for a row that QK-norm may apply to, and the factor it applies. The row itself stays as it is, so that a dot
// product which is exactly 0 stays 0 and is dropped; a row too large to normalise becomes NaN, so that it is seen.
HWY_INLINE bool PackRow(const float* HWY_RESTRICT from, size_t width, size_t stride, const Norm& norm,
                        float* HWY_RESTRICT to, float* HWY_RESTRICT scale) {
  const bool finite = PackRow(from, width, stride, to);
  *scale = NormScale(to, width, norm);
  if (*scale > 0.0f) return finite;
  for (size_t c = 0; c < width; ++c) to[c] = std::numeric_limits<float>::quiet_NaN();
  return false;
}

// Short rows far apart, as in a [B,T,H,d] view, are nothing a hardware prefetcher expects.
HWY_INLINE void PrefetchRow(const float* row, size_t width) {
  for (size_t c = 0; c < width; c += 16) hwy::Prefetch(row + c);
}
constexpr size_t kPrefetchRows = 8;  // ahead

// Rows [first, last) of a head, then zero rows up to a whole number of kDotRows. Where `scales` is not null, also what
// QK-norm multiplies each by.
HWY_INLINE bool PackRows(const HeadRows<const float>& from, size_t first, size_t last, size_t width, size_t stride,
                         const Norm& norm, float* HWY_RESTRICT to, float* HWY_RESTRICT scales) {
  bool finite = true;
  for (size_t r = first; r < last; ++r) {
    if (r + kPrefetchRows < last) PrefetchRow(from(r + kPrefetchRows), width);
    float* HWY_RESTRICT row = to + (r - first) * stride;
    finite &= scales == nullptr ? PackRow(from(r), width, stride, row)
                                : PackRow(from(r), width, stride, norm, row, scales + (r - first));
  }
  const size_t rows = last - first;
  const size_t padded = RoundUp(rows, kDotRows);
  std::memset(to + rows * stride, 0, (padded - rows) * stride * sizeof(float));
  return finite;
}

// to[c][lane] = packed[lane][c] for a tile of kTile packed rows; width is rounded up to a multiple of 4.
HWY_INLINE void Transpose(const float* HWY_RESTRICT packed, size_t width, size_t stride, float* HWY_RESTRICT to) {
  const DF df;
  // Quads of channels go through a buffer in which those of neighbouring rows are neighbours. Several quads of all rows
  // at a time: a vector loaded right after the quads it consists of were stored would have to wait for the cache.
  constexpr size_t kQuads = 4;
  HWY_ALIGN float quads[kQuads * 4 * kTile];
  const size_t all = DivideUp(width, 4);
  for (size_t first = 0; first < all; first += kQuads) {
    const size_t n = HWY_MIN(kQuads, all - first);
    for (size_t row = 0; row < kTile; ++row) {
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(quads + (i * kTile + row) * 4, packed + row * stride + (first + i) * 4, 4 * sizeof(float));
      }
    }
    for (size_t i = 0; i < n; ++i) {
      for (size_t v = 0; v < kVecs; ++v) {
        VF c0, c1, c2, c3;
        hn::LoadInterleaved4(df, quads + (i * kTile + v * kLanes) * 4, c0, c1, c2, c3);
        float* HWY_RESTRICT at = to + (first + i) * 4 * kTile + v * kLanes;
        hn::Store(c0, df, at);
        hn::Store(c1, df, at + kTile);
        hn::Store(c2, df, at + 2 * kTile);
        hn::Store(c3, df, at + 3 * kTile);
      }
    }
  }
}

// The way back: packed[lane][c] = from[c][lane] * scale[lane].
HWY_INLINE void TransposeBack(const float* HWY_RESTRICT from, const float* HWY_RESTRICT scale, size_t width,
                              size_t stride, float* HWY_RESTRICT packed) {
  const DF df;
  HWY_ALIGN float quads[4 * kLanes];
  for (size_t v = 0; v < kVecs; ++v) {
    const VF s = hn::Load(df, scale + v * kLanes);
    for (size_t c = 0; c < width; c += 4) {
      const float* HWY_RESTRICT at = from + c * kTile + v * kLanes;
      hn::StoreInterleaved4(hn::Mul(hn::Load(df, at), s), hn::Mul(hn::Load(df, at + kTile), s),
                            hn::Mul(hn::Load(df, at + 2 * kTile), s), hn::Mul(hn::Load(df, at + 3 * kTile), s), df,
                            quads);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        std::memcpy(packed + (v * kLanes + lane) * stride + c, quads + 4 * lane, 4 * sizeof(float));
      }
    }
  }
}

// Rows in which any score of the tile passes the threshold. NaN passes.
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

// s[r] = s[list[r]], in place: list ascends, so list[r] >= r.
HWY_INLINE void CompactRows(const uint16_t* list, size_t live, float* s) {
  for (size_t r = 0; r < live; ++r) {
    if (list[r] != r) std::memcpy(s + r * kTile, s + list[r] * kTile, kTile * sizeof(float));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_TILE_INL_H_
