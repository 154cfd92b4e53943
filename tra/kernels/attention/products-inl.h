// Computes the three small matrix products that all of attention is made of.
//
//   DotTile         s[row][query]   = a[row][:] . b[:][query]              scores, and dP in the backward
//   AccumulateTile  o[col][query]  += sum_row a[row][col] * p[row][query]  outputs, and dQ
//   OuterTile       out[row][col]  += sum_query p[row][query] * x[query][col]     dV and dK
//
// Rows are keys. Row lists select keys: a null list means rows 0, 1, 2, ...
#if defined(TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

template <bool kListed>
HWY_INLINE size_t RowAt(const uint16_t* list, size_t r) {
  if constexpr (kListed) return list[r];
  (void)list;
  return r;
}

// Each score is one chain of fused multiply-adds over the channels, in order, whatever the tile: the backward gets the
// same bits as the forward, and so the same mask. `rows` is rounded up to a multiple of kDotRows; s must have room for
// that.
template <bool kListed>
HWY_INLINE void DotTileImpl(const float* HWY_RESTRICT a, const uint16_t* HWY_RESTRICT list, size_t rows, size_t width,
                            size_t stride, const float* HWY_RESTRICT b, float* HWY_RESTRICT s) {
  const DF df;
  for (size_t r = 0; r < rows; r += kDotRows) {
    const float* row[kDotRows];
    for (size_t i = 0; i < kDotRows; ++i) {
      // Past the end of a list any row will do, because its scores are not read.
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

// Returns a single score, with the same bits as from DotTile.
HWY_INLINE float DotLane(const float* HWY_RESTRICT row, const float* HWY_RESTRICT b, size_t lane, size_t width) {
  const hn::CappedTag<float, 1> d1;
  auto sum = hn::Zero(d1);
  for (size_t c = 0; c < width; ++c) sum = hn::MulAdd(hn::Set(d1, row[c]), hn::Set(d1, b[c * kTile + lane]), sum);
  return hn::GetLane(sum);
}

// Sets o = o * alpha + product. The sum over a block starts from zero: summing blocks separately keeps long rows
// accurate. kSelect leaves out products with a zero weight, so that an Inf or NaN in a row that a query does not attend
// to cannot reach it.
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

// `width` is rounded up to whole vectors; x and out must be padded accordingly.
inline HWY_NOINLINE void OuterTile(const float* p, size_t rows, size_t queries, const float* x, size_t x_stride,
                                   const uint16_t* list, size_t width, size_t out_stride, bool select, float* out) {
  if (select) {
    if (list != nullptr) return OuterTileImpl<true, true>(p, rows, queries, x, x_stride, list, width, out_stride, out);
    return OuterTileImpl<false, true>(p, rows, queries, x, x_stride, nullptr, width, out_stride, out);
  }
  if (list != nullptr) return OuterTileImpl<true, false>(p, rows, queries, x, x_stride, list, width, out_stride, out);
  OuterTileImpl<false, false>(p, rows, queries, x, x_stride, nullptr, width, out_stride, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
