// Computes the three small matrix products that all of attention is made of.
//
//   DotTile        s[key][query]    = a[key][:] . b[:][query]                  scores, and dP in the backward
//   SumOverKeys    out[query][col] += sum_key p[key][query] * x[key][col]      outputs, and dQ
//   SumOverQueries out[key][col]   += sum_query p[key][query] * x[query][col]  dV and dK
//
// Rows are keys, see KeyRows. What no query of a vector (DotTile) or of a block of the result (the sums) sees is not
// computed: on the diagonal, and in lanes not in use.
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

// A block of the sums below: kRows rows of the result, each of kCols vectors. As many as there are registers for.
template <size_t kCols>
constexpr size_t kSumRows = HWY_MIN(size_t{12}, kVecs* kDotRows / kCols);
constexpr size_t kMaxSumCols = kDotRows / 2;

// Computes sum[i][j] += sum over k in [first, last) of weight(i, k) * vector j of x(k), in the order of k. kSelect
// leaves out products with a zero weight, so that an Inf or NaN in a row that has no weight cannot reach the result.
template <bool kSelect, size_t kRows, size_t kCols, class Weight, class X>
HWY_INLINE void AddProducts(size_t first, size_t last, const Weight& weight, const X& x, VF (&sum)[kRows][kCols]) {
  const DF df;
  for (size_t k = first; k < last; ++k) {
    const float* HWY_RESTRICT row = x(k);
    VF xs[kCols];
#pragma GCC unroll 4
    for (size_t j = 0; j < kCols; ++j) xs[j] = hn::Load(df, row + j * kLanes);
#pragma GCC unroll 12
    for (size_t i = 0; i < kRows; ++i) {
      const float w = weight(i, k);
      if (kSelect && w == 0.0f) continue;
#pragma GCC unroll 4
      for (size_t j = 0; j < kCols; ++j) sum[i][j] = hn::MulAdd(hn::Set(df, w), xs[j], sum[i][j]);
    }
  }
}

// Sums over keys: a row of the result belongs to a query.
template <bool kListed, bool kSelect>
struct KeySum {
  const KeyRows& keys;
  const float* p;  // [row][kTile]
  const float* x;
  size_t x_stride;
  const float* alpha;
  size_t out_stride;
  float* out;

  // Sets out = out * alpha + sum. The sum over a block of keys starts from zero: summing blocks separately keeps long
  // rows accurate.
  template <size_t kRows, size_t kCols>
  HWY_INLINE void Block(size_t query, size_t c) const {
    const DF df;
    VF sum[kRows][kCols];
    for (auto& of_row : sum) {
      for (VF& each : of_row) each = hn::Zero(df);
    }
    const size_t seen = keys.RowsUpTo(keys.first_position + static_cast<ptrdiff_t>(query + kRows) - 1);
    AddProducts<kSelect>(
        0, seen, [&](size_t i, size_t r) HWY_ATTR { return p[r * kTile + query + i]; },
        [&](size_t r) HWY_ATTR { return x + RowAt<kListed>(keys.list, r) * x_stride + c; }, sum);
    for (size_t i = 0; i < kRows; ++i) {
      const VF scale = hn::Set(df, alpha[query + i]);
      for (size_t j = 0; j < kCols; ++j) {
        float* HWY_RESTRICT to = out + (query + i) * out_stride + c + j * kLanes;
        hn::Store(hn::MulAdd(hn::Load(df, to), scale, sum[i][j]), df, to);
      }
    }
  }
};

// Sums over queries: a row of the result belongs to a key.
template <bool kListed, bool kSelect>
struct QuerySum {
  const KeyRows& keys;
  const float* p;  // [row][kTile]
  size_t queries;
  const float* x;
  size_t x_stride;
  size_t out_stride;
  float* out;

  template <size_t kRows, size_t kCols>
  HWY_INLINE void Block(size_t r, size_t c) const {
    const DF df;
    VF sum[kRows][kCols];
    float* to[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      to[i] = out + RowAt<kListed>(keys.list, r + i) * out_stride + c;
      for (size_t j = 0; j < kCols; ++j) sum[i][j] = hn::Load(df, to[i] + j * kLanes);
    }
    // Queries before the first of these keys have no weight.
    const ptrdiff_t ahead = static_cast<ptrdiff_t>(keys.first_key + keys.Offset(r)) - keys.first_position;
    AddProducts<kSelect>(
        ahead > 0 ? static_cast<size_t>(ahead) : 0, queries,
        [&](size_t i, size_t q) HWY_ATTR { return p[(r + i) * kTile + q]; },
        [&](size_t q) HWY_ATTR { return x + q * x_stride + c; }, sum);
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kCols; ++j) hn::Store(sum[i][j], df, to[i] + j * kLanes);
    }
  }
};

// Computes kCols vectors of all `rows` of a sum, from column c on.
template <size_t kCols, class Sum>
HWY_INLINE void SumColumns(const Sum& sum, size_t rows, size_t c) {
  constexpr size_t kRows = kSumRows<kCols>, kFew = 2;
  size_t r = 0;
  for (; r + kRows <= rows; r += kRows) sum.template Block<kRows, kCols>(r, c);
  for (; r + kFew <= rows; r += kFew) sum.template Block<kFew, kCols>(r, c);
  for (; r < rows; ++r) sum.template Block<1, kCols>(r, c);
}

template <class Sum>
HWY_INLINE void ComputeSum(const Sum& sum, size_t rows, size_t width) {
  size_t c = 0;
  for (; c + kMaxSumCols * kLanes <= width; c += kMaxSumCols * kLanes) SumColumns<kMaxSumCols>(sum, rows, c);
  if constexpr (kMaxSumCols > 2) {
    for (; c + 2 * kLanes <= width; c += 2 * kLanes) SumColumns<2>(sum, rows, c);
  }
  for (; c < width; c += kLanes) SumColumns<1>(sum, rows, c);
}

// Calls of(listed, select) with both as std::bool_constant.
template <class Of>
HWY_INLINE void WithListAndSelect(bool listed, bool select, const Of& of) {
  if (select) return listed ? of(std::true_type(), std::true_type()) : of(std::false_type(), std::true_type());
  listed ? of(std::true_type(), std::false_type()) : of(std::false_type(), std::false_type());
}

// In both sums `width` is rounded up to whole vectors, and x and out must be padded accordingly.
inline HWY_NOINLINE void SumOverKeys(const KeyRows& keys, const float* p, size_t queries, const float* x,
                                     size_t x_stride, size_t width, const float* alpha, bool select, size_t out_stride,
                                     float* out) {
  WithListAndSelect(keys.list != nullptr, select, [&](auto listed, auto selects) HWY_ATTR {
    using Sum = KeySum<decltype(listed)::value, decltype(selects)::value>;
    ComputeSum(Sum{keys, p, x, x_stride, alpha, out_stride, out}, queries, width);
  });
}

inline HWY_NOINLINE void SumOverQueries(const KeyRows& keys, const float* p, size_t queries, const float* x,
                                        size_t x_stride, size_t width, bool select, size_t out_stride, float* out) {
  WithListAndSelect(keys.list != nullptr, select, [&](auto listed, auto selects) HWY_ATTR {
    using Sum = QuerySum<decltype(listed)::value, decltype(selects)::value>;
    ComputeSum(Sum{keys, p, queries, x, x_stride, out_stride, out}, keys.rows, width);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_PRODUCTS_INL_H_
