// Holds a tile of queries: its packed inputs, its sums and what its rule carries along.
#if defined(TRA_KERNELS_ATTENTION_QUERY_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_QUERY_TILE_INL_H_
#undef TRA_KERNELS_ATTENTION_QUERY_TILE_INL_H_
#else
#define TRA_KERNELS_ATTENTION_QUERY_TILE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/rules-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Holds the numbers of a softmax in progress, one lane per query.
struct SoftmaxLanes {
  // Factor from a dot product to a logit in units of log2, which includes the query's factor of QK-norm.
  HWY_ALIGN float to_log2[kTile];
  HWY_ALIGN float max_log2[kTile];  // what is subtracted from the logits: the largest so far, or a bound on all
  HWY_ALIGN float sum[kTile];       // sum of the weights so far, relative to max_log2
};

// Turns the queries' factors of QK-norm into the factors from dot products to logits.
HWY_INLINE void ScaleToLog2(const Scoring& scoring, size_t queries, float* to_log2) {
  for (size_t lane = 0; lane < queries; ++lane) to_log2[lane] *= scoring.to_log2;
  std::fill(to_log2 + queries, to_log2 + kTile, 0.0f);
}

template <class Rule>
struct QueryTile {
  explicit QueryTile(const AttentionShape& shape)
      : rule(shape),
        q_t(AllocateFloats(RoundUp(shape.width, 4) * kTile)),
        out(AllocateFloats(kTile * PackedStride(shape.value_width))) {}

  // Packs the queries at this place and begins their softmax. `rows` has room for kTileRows packed rows of queries and
  // of the rule's input. `by_lengths` says that not QK-norm but the lengths of queries and keys bound the scores; see
  // KeyLengthBound.
  void Begin(const ForwardArgs<float>& args, const Scoring& scoring, const Norm& norm, const typename Rule::Call& call,
             bool by_lengths, const TilePlace& at, float* rows) {
    const size_t width = args.shape.width, stride = PackedStride(width);
    place = at;
    stopped = false;
    first_key = 0;
    std::memset(out.get(), 0, place.queries * PackedStride(args.shape.value_width) * sizeof(float));
    PackQueries(OfHead(args.q, place.batch, place.head), place.first, place.queries, width, stride, norm, rows,
                q_t.get(), lanes.to_log2);
    ScaleToLog2(scoring, place.queries, lanes.to_log2);
    std::fill_n(lanes.max_log2, kTile, scoring.bounded ? scoring.bound_log2 : kLowest);
    std::fill_n(lanes.sum, kTile, 0.0f);
    if constexpr (Rule::kInfo.stops) {
      std::fill_n(query_bound_log2, kTile, scoring.bound_log2);
      for (size_t lane = 0; lane < place.queries && by_lengths; ++lane) {
        // Where QK-norm does not bound the scores, Cauchy-Schwarz does.
        query_bound_log2[lane] = std::sqrt(SumOfSquares(rows + lane * stride, width)) * scoring.to_log2 *
                                 static_cast<float>(Scoring::kInflate);
      }
    }
    rule.Begin(call, scoring, place, rows);
  }

  TilePlace place;
  SoftmaxLanes lanes;
  typename Rule::Tile rule;
  Floats q_t;                               // [width][kTile]
  Floats out;                               // [kTile][PackedStride(value_width)], the sum of weight * value
  HWY_ALIGN float query_bound_log2[kTile];  // no logit exceeds this times the length of the longest key
  size_t first_key = 0;                     // the leftmost key visited if the tile stopped, else 0
  bool stopped = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_QUERY_TILE_INL_H_
