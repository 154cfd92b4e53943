// A tile of queries: its packed inputs, its sums and what it carries along.
#if defined(TRA_KERNELS_QUERY_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_QUERY_TILE_INL_H_
#undef TRA_KERNELS_QUERY_TILE_INL_H_
#else
#define TRA_KERNELS_QUERY_TILE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tra/kernels/rules-inl.h"
#include "tra/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

struct QueryTile {
  QueryTile(size_t width, size_t value_width, size_t positions)
      : q_t(AllocateFloats(RoundUp(width, 4) * kTile)),
        z_t(positions == 0 ? Floats() : AllocateFloats(RoundUp(positions, 4) * kTile)),
        o_t(AllocateFloats(RoundUp(value_width, 8) * kTile)),
        lanes(AllocateFloats(TileLanes::kArrays * kTile)) {
    std::memset(lanes.get(), 0, TileLanes::kArrays * kTile * sizeof(float));
  }
  TileLanes Lanes() const { return TileLanes::At(lanes.get()); }

  Floats q_t;  // [width][kTile]
  Floats z_t;  // kContextual: [table][kTile]; kForget: see KeyRows::near
  Floats o_t;  // [value_width][kTile], the sum of weight * value
  Floats lanes;
  size_t queries = 0;         // lanes in use
  size_t first_position = 0;  // of lane 0
  size_t first_key = 0;       // where it stopped
  bool stopped = false;
};

constexpr size_t kTileRows = RoundUp(kTile, kDotRows);  // what PackQueries may write

// rows[lane] = query `first + lane`, q_t its transpose, and where `scales` is not null what QK-norm multiplies it by.
// Lanes not in use are zero. Returns whether all of it was finite.
HWY_INLINE bool PackQueries(const HeadRows<const float>& from, size_t first, size_t queries, size_t width,
                            size_t stride, const Norm& norm, float* rows, float* q_t, float* scales) {
  const bool finite = PackRows({from(first), from.stride}, 0, queries, width, stride, norm, rows, scales);
  std::memset(rows + queries * stride, 0, (kTile - queries) * stride * sizeof(float));
  Transpose(rows, width, stride, q_t);
  return finite;
}

// From the queries' factors of QK-norm to those from dot products to logits.
HWY_INLINE void ScaleToLog2(const Scoring& scoring, size_t queries, const TileLanes& lanes) {
  for (size_t lane = 0; lane < queries; ++lane) lanes.scale2[lane] *= scoring.scale2;
  std::fill(lanes.scale2 + queries, lanes.scale2 + kTile, 0.0f);
}

// A gate of exactly 0 has log -inf; a finite decay keeps 0 * decay = 0 for the nearest key, and this one times any
// count stays above kLowest.
constexpr float kStrongestGate2 = -1e20f;

// Floats to a row of z; 0 for rules that have none.
HWY_INLINE size_t TableStride(const AttentionOptions& options, const AttentionShape& shape) {
  return options.rule == ScoreRule::kContextual ? PackedStride(shape.table) : 0;
}

// Rows of QueryTile::z_t.
HWY_INLINE size_t TileTableRows(const AttentionOptions& options, const AttentionShape& shape) {
  if (options.rule == ScoreRule::kForget) return kTile;
  return options.rule == ScoreRule::kContextual ? shape.table : 0;
}

// Writes z_t [table][kTile] of kContextual, in units of log2; `rows` has room for kTile of its rows.
HWY_INLINE void LoadPositions(const HeadRows<const float>& z, size_t first, size_t queries, size_t table, float* rows,
                              float* z_t) {
  const size_t stride = PackedStride(table);
  PackQueries(z, first, queries, table, stride, Norm(), rows, z_t, nullptr);
  for (size_t i = 0; i < table * kTile; ++i) z_t[i] *= static_cast<float>(Scoring::kLog2E);
}

HWY_INLINE void LoadGates(const Rows<const float>& log_gate, size_t batch, size_t head, size_t first, size_t queries,
                          ScoreRule rule, const TileLanes& lanes) {
  std::fill_n(lanes.gate2, kTile, 0.0f);
  if (rule != ScoreRule::kThreshold) return;
  for (size_t lane = 0; lane < queries; ++lane) {
    const float gate2 = *log_gate(batch, head, first + lane) * static_cast<float>(Scoring::kLog2E);
    lanes.gate2[lane] = gate2 < kStrongestGate2 ? kStrongestGate2 : gate2;
  }
}

// Calls at(r, lane) for each kept key that logit dropout set to 0, right to left. For keys before every query.
template <class At>
HWY_INLINE void ForEachDroppedKept(const uint32_t* bits, uint32_t drop_below, size_t rows, size_t queries,
                                   const float* q_t, const float* keys, size_t width, size_t stride, const At& at) {
  const DU du;
  const hn::RebindToSigned<DF> di;  // every target can compare signed; both are below 2^17
  const auto below = hn::Set(di, static_cast<int32_t>(drop_below));
  for (size_t r = rows; r-- > 0;) {
    for (size_t v = 0; v < kVecs; ++v) {
      const auto dropped = hn::Lt(hn::BitCast(di, hn::Load(du, bits + r * kTile + v * kLanes)), below);
      if (HWY_LIKELY(hn::AllFalse(di, dropped))) continue;
      for (size_t lane = v * kLanes; lane < (v + 1) * kLanes && lane < queries; ++lane) {
        if (bits[r * kTile + lane] >= drop_below) continue;
        if (!(DotLane(keys + r * stride, q_t, lane, width) <= 0.0f)) at(r, lane);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_QUERY_TILE_INL_H_
