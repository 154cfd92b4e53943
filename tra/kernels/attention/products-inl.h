// Computes the three small matrix products that all of attention is made of.
//
//   DotTile         s[row][query]   = a[row][:] . b[:][query]              scores, and dP in the backward
//   AccumulateTile  o[col][query]  += sum_row a[row][col] * p[row][query]  outputs, and dQ
//   OuterTile       out[row][col]  += sum_query p[row][query] * x[query][col]     dV and dK
//
// Rows are keys, see KeyRows. What no query of a vector sees is not computed: on the diagonal, and in lanes not in use.
#if defined(TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tra/kernels/attention/key_rows-inl.h"
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

// Computes the rows [first, last) for the vectors [kBegin, kEnd). Each score is one chain of fused multiply-adds over
// the channels, in order, whatever the tile: the backward gets the same bits as the forward, and so the same mask. The
// number of rows is rounded up to a multiple of kDotRows; s must have room for that.
template <bool kListed, size_t kBegin, size_t kEnd>
HWY_INLINE void DotRowsOf(const float* HWY_RESTRICT a, const uint16_t* HWY_RESTRICT list, size_t first, size_t last,
                          size_t width, size_t stride, const float* HWY_RESTRICT b, float* HWY_RESTRICT s) {
  const DF df;
  for (size_t r = first; r < last; r += kDotRows) {
    const float* row[kDotRows];
    for (size_t i = 0; i < kDotRows; ++i) {
      // Past the end of a list any row will do, because its scores are not read.
      row[i] = a + (kListed && r + i >= last ? 0 : RowAt<kListed>(list, r + i)) * stride;
    }
    VF sum[kDotRows][kEnd - kBegin];
    for (auto& of_row : sum) {
      for (VF& each : of_row) each = hn::Zero(df);
    }
    for (size_t c = 0; c < width; ++c) {
      VF bs[kEnd - kBegin];
#pragma GCC unroll 3
      for (size_t v = kBegin; v < kEnd; ++v) bs[v - kBegin] = hn::Load(df, b + c * kTile + v * kLanes);
#pragma GCC unroll 8
      for (size_t i = 0; i < kDotRows; ++i) {
        const VF x = hn::Set(df, row[i][c]);
#pragma GCC unroll 3
        for (size_t v = 0; v < kEnd - kBegin; ++v) sum[i][v] = hn::MulAdd(x, bs[v], sum[i][v]);
      }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kDotRows; ++i) {
      for (size_t v = kBegin; v < kEnd; ++v) hn::Store(sum[i][v - kBegin], df, s + (r + i) * kTile + v * kLanes);
    }
  }
}

// Calls of(std::integral_constant<size_t, begin>, std::integral_constant<size_t, end>) for vectors of these numbers.
template <class Of>
HWY_INLINE void WithVectors(size_t begin, size_t end, const Of& of) {
  const auto with_end = [&](auto constant_end) HWY_ATTR {
    constexpr size_t kEnd = decltype(constant_end)::value;
    if (begin == 0) return of(std::integral_constant<size_t, 0>(), constant_end);
    if constexpr (kEnd > 1) {
      if (begin == 1) return of(std::integral_constant<size_t, 1>(), constant_end);
    }
    if constexpr (kEnd > 2) of(std::integral_constant<size_t, 2>(), constant_end);
  };
  static_assert(kVecs == 3);
  if (end == 3) return with_end(std::integral_constant<size_t, 3>());
  if (end == 2) return with_end(std::integral_constant<size_t, 2>());
  with_end(std::integral_constant<size_t, 1>());
}

template <bool kListed>
HWY_INLINE void DotTileImpl(const KeyRows& keys, const float* a, size_t width, size_t stride, const float* b,
                            float* s) {
  ForEachSegment(keys, [&](size_t begin, size_t first, size_t last) HWY_ATTR {
    WithVectors(begin, keys.vecs, [&](auto from, auto to) HWY_ATTR {
      DotRowsOf<kListed, decltype(from)::value, decltype(to)::value>(a, keys.list, first, last, width, stride, b, s);
    });
  });
}

inline HWY_NOINLINE void DotTile(const KeyRows& keys, const float* a, size_t width, size_t stride, const float* b,
                                 float* s) {
  if (keys.list != nullptr) return DotTileImpl<true>(keys, a, width, stride, b, s);
  DotTileImpl<false>(keys, a, width, stride, b, s);
}

// Returns a single score, with the same bits as from DotTile.
HWY_INLINE float DotLane(const float* HWY_RESTRICT row, const float* HWY_RESTRICT b, size_t lane, size_t width) {
  const hn::CappedTag<float, 1> d1;
  auto sum = hn::Zero(d1);
  for (size_t c = 0; c < width; ++c) sum = hn::MulAdd(hn::Set(d1, row[c]), hn::Set(d1, b[c * kTile + lane]), sum);
  return hn::GetLane(sum);
}

// Adds the rows [first, last) to the sums of the vectors [kBegin, kEnd).
template <bool kListed, bool kSelect, size_t kBegin, size_t kEnd>
HWY_INLINE void AccumulateRowsOf(const float* HWY_RESTRICT a, const uint16_t* HWY_RESTRICT list, size_t first,
                                 size_t last, size_t stride, const float* HWY_RESTRICT p, VF (&sum)[kDotRows][kEnd]) {
  const DF df;
  for (size_t r = first; r < last; ++r) {
    const float* HWY_RESTRICT row = a + RowAt<kListed>(list, r) * stride;
    VF ps[kEnd];
#pragma GCC unroll 3
    for (size_t v = kBegin; v < kEnd; ++v) ps[v] = hn::Load(df, p + r * kTile + v * kLanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < kDotRows; ++i) {
      const VF x = hn::Set(df, row[i]);
#pragma GCC unroll 3
      for (size_t v = kBegin; v < kEnd; ++v) {
        const VF next = hn::MulAdd(x, ps[v], sum[i][v]);
        sum[i][v] = kSelect ? hn::IfThenElse(hn::Eq(ps[v], hn::Zero(df)), sum[i][v], next) : next;
      }
    }
  }
}

// Sets o = o * alpha + product. The sum over a block starts from zero: summing blocks separately keeps long rows
// accurate. kSelect leaves out products with a zero weight, so that an Inf or NaN in a row that a query does not attend
// to cannot reach it.
template <bool kListed, bool kSelect, size_t kEnd>
HWY_INLINE void AccumulateTileImpl(const KeyRows& keys, const float* HWY_RESTRICT a, size_t width, size_t stride,
                                   const float* HWY_RESTRICT p, const float* HWY_RESTRICT alpha,
                                   float* HWY_RESTRICT o) {
  const DF df;
  for (size_t c = 0; c < width; c += kDotRows) {
    VF sum[kDotRows][kEnd];
    for (auto& of_col : sum) {
      for (VF& each : of_col) each = hn::Zero(df);
    }
    AccumulateRowsOf<kListed, kSelect, 0, kEnd>(a + c, keys.list, 0, keys.end[0], stride, p, sum);
    if constexpr (kEnd > 1) {
      AccumulateRowsOf<kListed, kSelect, 1, kEnd>(a + c, keys.list, keys.end[0], keys.end[1], stride, p, sum);
    }
    if constexpr (kEnd > 2) {
      AccumulateRowsOf<kListed, kSelect, 2, kEnd>(a + c, keys.list, keys.end[1], keys.end[2], stride, p, sum);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kDotRows; ++i) {
      for (size_t v = 0; v < kEnd; ++v) {
        float* HWY_RESTRICT to = o + (c + i) * kTile + v * kLanes;
        hn::Store(hn::MulAdd(hn::Load(df, to), hn::Load(df, alpha + v * kLanes), sum[i][v]), df, to);
      }
    }
  }
}

inline HWY_NOINLINE void AccumulateTile(const KeyRows& keys, const float* a, size_t width, size_t stride,
                                        const float* p, const float* alpha, bool select, float* o) {
  WithVectors(0, keys.vecs, [&](auto /*from*/, auto to) HWY_ATTR {
    constexpr size_t kEnd = decltype(to)::value;
    if (select) {
      if (keys.list != nullptr) return AccumulateTileImpl<true, true, kEnd>(keys, a, width, stride, p, alpha, o);
      return AccumulateTileImpl<false, true, kEnd>(keys, a, width, stride, p, alpha, o);
    }
    if (keys.list != nullptr) return AccumulateTileImpl<true, false, kEnd>(keys, a, width, stride, p, alpha, o);
    AccumulateTileImpl<false, false, kEnd>(keys, a, width, stride, p, alpha, o);
  });
}

constexpr size_t kOuterRows = 6;
constexpr size_t kOuterVecs = kDotRows / 2;

template <size_t kRows, size_t kCols, bool kListed, bool kSelect>
HWY_INLINE void OuterBlock(const float* HWY_RESTRICT p, size_t first_query, size_t queries, const float* HWY_RESTRICT x,
                           size_t x_stride, const uint16_t* HWY_RESTRICT list, size_t r, size_t c, size_t out_stride,
                           float* HWY_RESTRICT out) {
  const DF df;
  VF sum[kRows][kCols];
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kCols; ++j) {
      sum[i][j] = hn::Load(df, out + RowAt<kListed>(list, r + i) * out_stride + c + j * kLanes);
    }
  }
  const float* HWY_RESTRICT weights = p + r * kTile;
  for (size_t q = first_query; q < queries; ++q) {
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
HWY_INLINE void OuterRows(const KeyRows& keys, const float* p, size_t queries, const float* x, size_t x_stride,
                          size_t r, size_t width, size_t out_stride, float* out) {
  // Queries before the first of these keys have no weight.
  const ptrdiff_t ahead = static_cast<ptrdiff_t>(keys.first_key + keys.Offset(r)) - keys.first_position;
  const size_t first_query = ahead > 0 ? static_cast<size_t>(ahead) : 0;
  size_t c = 0;
  for (; c + kOuterVecs * kLanes <= width; c += kOuterVecs * kLanes) {
    OuterBlock<kRows, kOuterVecs, kListed, kSelect>(p, first_query, queries, x, x_stride, keys.list, r, c, out_stride,
                                                    out);
  }
  for (; c < width; c += kLanes) {
    OuterBlock<kRows, 1, kListed, kSelect>(p, first_query, queries, x, x_stride, keys.list, r, c, out_stride, out);
  }
}

template <bool kListed, bool kSelect>
HWY_INLINE void OuterTileImpl(const KeyRows& keys, const float* p, size_t queries, const float* x, size_t x_stride,
                              size_t width, size_t out_stride, float* out) {
  size_t r = 0;
  for (; r + kOuterRows <= keys.rows; r += kOuterRows) {
    OuterRows<kOuterRows, kListed, kSelect>(keys, p, queries, x, x_stride, r, width, out_stride, out);
  }
  for (; r < keys.rows; ++r) OuterRows<1, kListed, kSelect>(keys, p, queries, x, x_stride, r, width, out_stride, out);
}

// `width` is rounded up to whole vectors; x and out must be padded accordingly.
inline HWY_NOINLINE void OuterTile(const KeyRows& keys, const float* p, size_t queries, const float* x, size_t x_stride,
                                   size_t width, size_t out_stride, bool select, float* out) {
  if (select) {
    if (keys.list != nullptr) return OuterTileImpl<true, true>(keys, p, queries, x, x_stride, width, out_stride, out);
    return OuterTileImpl<false, true>(keys, p, queries, x, x_stride, width, out_stride, out);
  }
  if (keys.list != nullptr) return OuterTileImpl<true, false>(keys, p, queries, x, x_stride, width, out_stride, out);
  OuterTileImpl<false, false>(keys, p, queries, x, x_stride, width, out_stride, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
