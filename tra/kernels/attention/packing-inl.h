// Converts rows in memory to the packed rows and tiles that the products read, and back.
#if defined(TRA_KERNELS_ATTENTION_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_PACKING_INL_H_
#undef TRA_KERNELS_ATTENTION_PACKING_INL_H_
#else
#define TRA_KERNELS_ATTENTION_PACKING_INL_H_
#endif

#include <cmath>
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

// Returns what QK-norm multiplies a row by; 1 without it.
HWY_INLINE float NormScale(const float* row, size_t width, const Norm& norm) {
  if (!norm.on) return 1.0f;
  return 1.0f / std::sqrt(SumOfSquares(row, width) / static_cast<float>(width) + norm.eps);
}

// Copies the row to to[0..stride), zero-padded. Returns whether all of it was finite.
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

// Packs a row and sets *scale to what QK-norm multiplies it by. The packed row is not normalised, so that a dot product
// which is exactly 0 stays 0 and is dropped; a row too large to normalise becomes NaN, so that the error shows.
HWY_INLINE bool PackRow(const float* HWY_RESTRICT from, size_t width, size_t stride, const Norm& norm,
                        float* HWY_RESTRICT to, float* HWY_RESTRICT scale) {
  const bool finite = PackRow(from, width, stride, to);
  *scale = NormScale(to, width, norm);
  if (*scale > 0.0f) return finite;
  for (size_t c = 0; c < width; ++c) to[c] = std::numeric_limits<float>::quiet_NaN();
  return false;
}

// Prefetches a row. Hardware prefetchers do not expect short rows far apart, as in a [B,T,H,d] view.
HWY_INLINE void PrefetchRow(const float* row, size_t width) {
  for (size_t c = 0; c < width; c += 16) hwy::Prefetch(row + c);
}
constexpr size_t kPrefetchRows = 8;  // how many rows ahead to prefetch

// Packs the rows [first, last) of a head, then zero rows up to a whole number of kDotRows. Where `scales` is not null,
// also stores what QK-norm multiplies each row by. Returns whether all of them were finite.
inline HWY_NOINLINE bool PackRows(const HeadRows<const float>& from, size_t first, size_t last, size_t width,
                                  size_t stride, const Norm& norm, float* HWY_RESTRICT to, float* HWY_RESTRICT scales) {
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

// Sets to[c][lane] = packed[lane][c] for a tile of kTile packed rows; width is rounded up to a multiple of 4.
inline HWY_NOINLINE void Transpose(const float* HWY_RESTRICT packed, size_t width, size_t stride,
                                   float* HWY_RESTRICT to) {
  const DF df;
  // Quads of channels go through a buffer that puts those of neighbouring rows side by side. Several quads of all rows
  // are stored before any is loaded, because a vector loaded right after its quads were stored would have to wait for
  // the cache.
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

// Transposes back: packed[lane][c] = from[c][lane] * scale[lane].
inline HWY_NOINLINE void TransposeBack(const float* HWY_RESTRICT from, const float* HWY_RESTRICT scale, size_t width,
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

constexpr size_t kTileRows = RoundUp(kTile, kDotRows);  // rows that PackQueries may write

// Packs the queries from `first` on to rows[lane], and their transpose to q_t; lanes not in use are zero. Where
// `scales` is not null, also stores what QK-norm multiplies each query by. Returns whether all queries were finite.
inline HWY_NOINLINE bool PackQueries(const HeadRows<const float>& from, size_t first, size_t queries, size_t width,
                                     size_t stride, const Norm& norm, float* rows, float* q_t, float* scales) {
  const bool finite = PackRows({from(first), from.stride}, 0, queries, width, stride, norm, rows, scales);
  std::memset(rows + queries * stride, 0, (kTile - queries) * stride * sizeof(float));
  Transpose(rows, width, stride, q_t);
  return finite;
}

// Adds from * scale to `to`, or overwrites `to` with it.
HWY_INLINE void AddRow(const float* HWY_RESTRICT from, size_t width, float scale, bool overwrite,
                       float* HWY_RESTRICT to) {
  if (overwrite) {
    for (size_t c = 0; c < width; ++c) to[c] = from[c] * scale;
  } else {
    for (size_t c = 0; c < width; ++c) to[c] += from[c] * scale;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_PACKING_INL_H_
