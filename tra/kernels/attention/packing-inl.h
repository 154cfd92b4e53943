// Converts rows in memory to the packed rows and tiles that the products read, and back.
#if defined(TRA_KERNELS_ATTENTION_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_PACKING_INL_H_
#undef TRA_KERNELS_ATTENTION_PACKING_INL_H_
#else
#define TRA_KERNELS_ATTENTION_PACKING_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "hwy/cache_control.h"
#include "tra/kernels/attention/layout.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

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

// Returns what QK-norm multiplies rows by, given the sums of their squares.
HWY_INLINE VF NormScales(VF squares, size_t width, const Norm& norm) {
  const DF df;
  const VF mean = hn::Div(squares, hn::Set(df, static_cast<float>(width)));
  return hn::Div(hn::Set(df, 1.0f), hn::Sqrt(hn::Add(mean, hn::Set(df, norm.eps))));
}

// Copies a row to to[0..RoundUp(width, kLanes)), padded with zeros. Adds 0 to `spoiled` if the row is finite, else NaN.
// Returns the sum of its squares, if asked to.
template <bool kSquares>
HWY_INLINE float CopyRow(const float* HWY_RESTRICT from, size_t width, float* HWY_RESTRICT to, VF& spoiled) {
  const DF df;
  VF squares = hn::Zero(df), times_zero = hn::Zero(df);  // x * 0 is 0 only for finite x
  size_t c = 0;
  for (; c + kLanes <= width; c += kLanes) {
    const VF x = hn::LoadU(df, from + c);
    times_zero = hn::MulAdd(x, hn::Zero(df), times_zero);
    if constexpr (kSquares) squares = hn::MulAdd(x, x, squares);
    hn::Store(x, df, to + c);
  }
  float sum = kSquares ? hn::GetLane(hn::SumOfLanes(df, squares)) : 0.0f;
  if (HWY_UNLIKELY(c < width)) {
    hn::Store(hn::Zero(df), df, to + c);
    for (; c < width; ++c) {
      to[c] = from[c];
      sum += to[c] * to[c];
      times_zero = hn::Add(times_zero, hn::Set(df, to[c] * 0.0f));
    }
  }
  spoiled = hn::Add(spoiled, times_zero);
  return sum;
}

// Prefetches a row. Hardware prefetchers do not expect short rows far apart, as in a [B,T,H,d] view.
HWY_INLINE void PrefetchRow(const float* row, size_t width) {
  for (size_t c = 0; c < width; c += 16) hwy::Prefetch(row + c);
}
constexpr size_t kPrefetchRows = 8;  // how many rows ahead to prefetch

// Copies the rows [first, last) of a head, and the sums of their squares, if asked to. Returns whether all of them were
// finite.
template <bool kSquares>
HWY_INLINE bool CopyRows(const HeadRows<const float>& from, size_t first, size_t last, size_t width, size_t stride,
                         float* HWY_RESTRICT to, float* HWY_RESTRICT squares) {
  VF spoiled = hn::Zero(DF());
  for (size_t r = first; r < last; ++r) {
    if (r + kPrefetchRows < last) PrefetchRow(from(r + kPrefetchRows), width);
    const float sum = CopyRow<kSquares>(from(r), width, to + (r - first) * stride, spoiled);
    if constexpr (kSquares) squares[r - first] = sum;
  }
  return hn::AllTrue(DF(), hn::Eq(spoiled, hn::Zero(DF())));
}

// Packs the rows [first, last) of a head, then zero rows up to a whole number of kDotRows. Where `scales` is not null,
// also stores what QK-norm multiplies each row by; there must be room for a whole number of vectors. Returns whether
// all rows were finite. The packed rows are not normalised, so that a dot product which is exactly 0 stays 0 and is
// dropped; a row too large to normalise becomes NaN, so that the error shows.
inline HWY_NOINLINE bool PackRows(const HeadRows<const float>& from, size_t first, size_t last, size_t width,
                                  size_t stride, const Norm& norm, float* HWY_RESTRICT to, float* HWY_RESTRICT scales) {
  const DF df;
  const size_t rows = last - first;
  const size_t padded = RoundUp(rows, kDotRows);
  std::memset(to + rows * stride, 0, (padded - rows) * stride * sizeof(float));
  if (scales == nullptr || !norm.on) {
    if (scales != nullptr) std::fill_n(scales, rows, 1.0f);
    return CopyRows<false>(from, first, last, width, stride, to, nullptr);
  }
  bool finite = CopyRows<true>(from, first, last, width, stride, to, scales);
  std::fill(scales + rows, scales + RoundUp(rows, kLanes), 1.0f);
  for (size_t r = 0; r < rows; r += kLanes) {
    const VF scale = NormScales(hn::LoadU(df, scales + r), width, norm);
    hn::StoreU(scale, df, scales + r);
    if (HWY_LIKELY(hn::AllTrue(df, hn::Gt(scale, hn::Zero(df))))) continue;
    for (size_t i = r; i < HWY_MIN(r + kLanes, rows); ++i) {
      if (scales[i] > 0.0f) continue;
      std::fill_n(to + i * stride, width, std::numeric_limits<float>::quiet_NaN());
      finite = false;
    }
  }
  return finite;
}

// Transposes `vecs` vectors of rows, of four channels each: quads holds those of row 4 * b + i in block b of vector i.
// Interleave works within blocks of four lanes.
HWY_INLINE void TransposeQuads(const float* HWY_RESTRICT quads, size_t vecs, float* HWY_RESTRICT to) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 4 * vecs; ++i) to[i % 4 * kTile + i / 4] = quads[i];
#else
  const DF df;
  for (size_t v = 0; v < vecs; ++v) {
    const float* HWY_RESTRICT four = quads + v * kLanes * 4;
    const VF a = hn::Load(df, four), b = hn::Load(df, four + kLanes);
    const VF c = hn::Load(df, four + 2 * kLanes), d = hn::Load(df, four + 3 * kLanes);
    const VF ac_low = hn::InterleaveLower(df, a, c), bd_low = hn::InterleaveLower(df, b, d);
    const VF ac_high = hn::InterleaveUpper(df, a, c), bd_high = hn::InterleaveUpper(df, b, d);
    hn::Store(hn::InterleaveLower(df, ac_low, bd_low), df, to + v * kLanes);
    hn::Store(hn::InterleaveUpper(df, ac_low, bd_low), df, to + v * kLanes + kTile);
    hn::Store(hn::InterleaveLower(df, ac_high, bd_high), df, to + v * kLanes + 2 * kTile);
    hn::Store(hn::InterleaveUpper(df, ac_high, bd_high), df, to + v * kLanes + 3 * kTile);
  }
#endif
}

// Sets to[c][lane] = packed[lane][c] for `vecs` vectors of packed rows; width is rounded up to a multiple of 4.
inline HWY_NOINLINE void Transpose(const float* HWY_RESTRICT packed, size_t vecs, size_t width, size_t stride,
                                   float* HWY_RESTRICT to) {
  // Quads of channels go through a buffer. Several quads of all rows are stored before any is loaded, because a vector
  // loaded right after its quads were stored would have to wait for the cache.
  constexpr size_t kQuads = 4;
  constexpr size_t kBlocks = DivideUp(kLanes, 4);
  HWY_ALIGN float quads[kQuads][4 * kTile];
  const size_t all = DivideUp(width, 4);
  for (size_t first = 0; first < all; first += kQuads) {
    const size_t n = HWY_MIN(kQuads, all - first);
    for (size_t row = 0; row < vecs * kLanes; ++row) {
      const size_t lane = row % kLanes, place = row - lane + lane % 4 * kBlocks + lane / 4;
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(quads[i] + 4 * place, packed + row * stride + (first + i) * 4, 4 * sizeof(float));
      }
    }
    for (size_t i = 0; i < n; ++i) TransposeQuads(quads[i], vecs, to + (first + i) * 4 * kTile);
  }
}

// Adds from * scale to `to`, or overwrites `to` with it.
HWY_INLINE void AddRow(const float* HWY_RESTRICT from, size_t width, float scale, bool overwrite,
                       float* HWY_RESTRICT to) {
  const DF df;
  const VF scales = hn::Set(df, scale);
  size_t c = 0;
  for (; c + kLanes <= width; c += kLanes) {
    const VF x = hn::LoadU(df, from + c);
    hn::StoreU(overwrite ? hn::Mul(x, scales) : hn::MulAdd(x, scales, hn::LoadU(df, to + c)), df, to + c);
  }
  for (; c < width; ++c) to[c] = overwrite ? from[c] * scale : to[c] + from[c] * scale;
}

// Adds rows of a packed buffer, each times scale(row), to the rows of a head, or overwrites these.
template <class Scale>
HWY_INLINE void AddRows(const float* HWY_RESTRICT from, size_t stride, size_t rows, size_t width, const Scale& scale,
                        bool overwrite, const HeadRows<float>& to) {
  for (size_t r = 0; r < rows; ++r) {
    if (r + kPrefetchRows < rows) PrefetchRow(to(r + kPrefetchRows), width);
    AddRow(from + r * stride, width, scale(r), overwrite, to(r));
  }
}

constexpr size_t kTileRows = RoundUp(kTile, kDotRows);  // rows that PackQueries may write

// Packs the queries from `first` on to rows[lane], and their transpose to q_t; the lanes not in use of the last vector
// are zero. Where `scales` is not null, also stores what QK-norm multiplies each query by. Returns whether all queries
// were finite.
inline HWY_NOINLINE bool PackQueries(const HeadRows<const float>& from, size_t first, size_t queries, size_t width,
                                     size_t stride, const Norm& norm, float* rows, float* q_t, float* scales) {
  const bool finite = PackRows({from(first), from.stride}, 0, queries, width, stride, norm, rows, scales);
  const size_t vecs = DivideUp(queries, kLanes);
  std::memset(rows + queries * stride, 0, (vecs * kLanes - queries) * stride * sizeof(float));
  Transpose(rows, vecs, width, stride, q_t);
  return finite;
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_PACKING_INL_H_
