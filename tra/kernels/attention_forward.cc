// Forward pass. A task is a group of queries of one head; within it, keys go by from right to left in blocks that are
// packed once and used by every tile of queries that has not stopped.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention_check.h"
#include "tra/kernels/key_norms.h"
#include "tra/kernels/layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/attention_forward.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/own_terms-inl.h"
#include "tra/kernels/philox-inl.h"
#include "tra/kernels/query_tile-inl.h"
#include "tra/kernels/score-inl.h"
#include "tra/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

constexpr size_t kMaxGroupTiles = 16;

class Forward {
 public:
  Forward(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyNorms* key_norms)
      : args_(args),
        shape_(args.shape),
        options_(options),
        scoring_(args.shape, options),
        terms_(args.shape, options, args.own),
        norm_{options.qk_norm, options.norm_eps},
        key_norms_(key_norms),
        drop_below_(scoring_.dropout == DropoutOn::kNone ? 0 : DropoutThreshold(options.dropout_p)),
        k_stride_(PackedStride(shape_.width)),
        v_stride_(PackedStride(shape_.value_width)),
        past_(shape_.keys - shape_.queries) {}

  // Buffers of one worker.
  struct Scratch {
    Floats keys, values;  // [kKeyBlock][stride]
    Floats key_scales;    // [kKeyBlock]
    Floats rows;          // [kTile][stride], queries on their way in and out
    Floats scores;        // [kKeyBlock][kTile]
    Floats alpha;         // [kTile]
    Floats terms;         // [kKeyBlock]
    Floats bits;          // [kKeyBlock][kTile], as uint32_t
    std::vector<QueryTile> tiles;
    uint16_t list[kKeyBlock];
    bool values_finite;
  };

  // Queries [first, last) of a head.
  void Group(size_t batch, size_t head, size_t first, size_t last, Scratch& scratch) const {
    Prepare(scratch);
    const size_t tiles = DivideUp(last - first, kTile);
    while (scratch.tiles.size() < tiles)
      scratch.tiles.emplace_back(shape_.width, shape_.value_width, TileTableRows(options_, shape_));
    for (size_t t = 0; t < tiles; ++t) Begin(batch, head, first + t * kTile, last, scratch, scratch.tiles[t]);

    const HeadRows<const float> k = OfHead(args_.k, batch, head);
    const HeadRows<const float> v = OfHead(args_.v, batch, head);
    const size_t visible = past_ + last;  // keys before this one
    for (size_t block_end = visible; block_end > 0;) {
      const size_t first_key = (block_end - 1) / kKeyBlock * kKeyBlock;
      bool all_stopped = true;
      for (size_t t = 0; t < tiles; ++t) all_stopped &= scratch.tiles[t].stopped && !HasTail();
      if (all_stopped) break;
      PackRows(k, first_key, block_end, shape_.width, k_stride_, norm_, scratch.keys.get(), scratch.key_scales.get());
      scratch.values_finite =
          PackRows(v, first_key, block_end, shape_.value_width, v_stride_, Norm(), scratch.values.get(), nullptr);
      for (size_t t = 0; t < tiles; ++t) {
        QueryTile& tile = scratch.tiles[t];
        const size_t end = std::min(block_end, tile.first_position + tile.queries);
        if (end <= first_key) continue;
        if (!tile.stopped) {
          Block(batch, head, first_key, end - first_key, tile, scratch);
        } else if (HasTail()) {
          TailBlock(batch, head, first_key, end - first_key, tile, scratch);
        }
      }
      block_end = first_key;
    }
    for (size_t t = 0; t < tiles; ++t) Finish(batch, head, first + t * kTile, scratch, scratch.tiles[t]);
  }

 private:
  // Past the stop, a key whose logit was dropped to 0 still counts: see docs/kernels.md, "Dropout past the stop".
  bool HasTail() const { return scoring_.dropout == DropoutOn::kLogits && scoring_.stop_eps != kStopNever; }

  void Prepare(Scratch& scratch) const {
    if (scratch.keys != nullptr) return;
    scratch.keys = AllocateFloats(kKeyBlock * k_stride_);
    scratch.values = AllocateFloats(kKeyBlock * v_stride_);
    scratch.key_scales = AllocateFloats(kKeyBlock);
    scratch.rows = AllocateFloats(kTileRows * std::max({k_stride_, v_stride_, TableStride(options_, shape_)}));
    scratch.terms = AllocateFloats(kKeyBlock);
    scratch.scores = AllocateFloats(kKeyBlock * kTile);
    scratch.alpha = AllocateFloats(kTile);
    if (drop_below_ > 0) scratch.bits = AllocateFloats(kKeyBlock * kTile);
    std::fill_n(scratch.alpha.get(), kTile, 1.0f);
  }

  void Begin(size_t batch, size_t head, size_t first, size_t last, Scratch& scratch, QueryTile& tile) const {
    tile.queries = std::min(kTile, last - first);
    tile.first_position = past_ + first;
    tile.stopped = false;
    tile.first_key = 0;
    std::memset(tile.o_t.get(), 0, RoundUp(shape_.value_width, kDotRows) * kTile * sizeof(float));
    const TileLanes lanes = tile.Lanes();
    PackQueries(OfHead(args_.q, batch, head), first, tile.queries, shape_.width, k_stride_, norm_, scratch.rows.get(),
                tile.q_t.get(), lanes.scale2);
    ScaleToLog2(scoring_, tile.queries, lanes);
    LoadGates(args_.own, batch, head, first, tile.queries, options_.rule, lanes);
    std::fill_n(lanes.count, kTile, scoring_.first_count);
    std::fill_n(lanes.max2, kTile, scoring_.bounded ? scoring_.bound2 : kLowest);
    std::fill_n(lanes.sum, kTile, 0.0f);
    std::fill_n(lanes.geo, kTile, 0.0f);
    for (size_t lane = 0; lane < kTile; ++lane) {
      // Cauchy-Schwarz where QK-norm does not bound the scores; see KeyNorms.
      lanes.bound2[lane] = key_norms_ == nullptr
                               ? scoring_.bound2
                               : std::sqrt(SumOfSquares(scratch.rows.get() + lane * k_stride_, shape_.width)) *
                                     scoring_.scale2 * static_cast<float>(Scoring::kInflate);
    }
    if (options_.rule == ScoreRule::kForget) {
      terms_.Tile(batch, head, tile.first_position, tile.queries, lanes.gate2, tile.z_t.get());
    }
    if (options_.rule == ScoreRule::kContextual) {
      LoadPositions(OfHead(args_.own, batch, head), first, tile.queries, shape_.table, scratch.rows.get(),
                    tile.z_t.get());
    }
  }

  void Block(size_t batch, size_t head, size_t first_key, size_t rows, QueryTile& tile, Scratch& scratch) const {
    float* scores = scratch.scores.get();
    DotTile(scratch.keys.get(), nullptr, rows, shape_.width, k_stride_, tile.q_t.get(), scores);
    KeyRows keys{first_key,
                 rows,
                 nullptr,
                 static_cast<ptrdiff_t>(tile.first_position),
                 nullptr,
                 drop_below_,
                 norm_.on ? scratch.key_scales.get() : nullptr,
                 options_.rule == ScoreRule::kContextual
                     ? tile.z_t.get()
                     : terms_.Block(batch, head, first_key, rows, tile.first_position, scratch.terms.get()),
                 tile.z_t.get(),
                 nullptr,
                 shape_.table};
    if (options_.rule == ScoreRule::kThreshold) {
      keys.rows = LiveRows(scores, rows, scratch.list);
      if (4 * keys.rows < 3 * rows) {  // worth an indirection
        CompactRows(scratch.list, keys.rows, scores);
        keys.list = scratch.list;
      } else {
        keys.rows = rows;
      }
    }
    if (keys.rows > 0) {
      keys.bits = DrawDropout(batch, head, first_key, rows, tile, scratch);
      Weigh(keys, tile.Lanes(), scores, scratch.alpha.get());
      AccumulateTile(scratch.values.get(), keys.list, keys.rows, shape_.value_width, v_stride_, scores,
                     scratch.alpha.get(), !scratch.values_finite, tile.o_t.get());
    }
    if (first_key == 0) return;
    if (key_norms_ != nullptr) {
      const float to_come = key_norms_->MaxBefore(batch * shape_.heads + head, first_key);
      TileLanes lanes = tile.Lanes();
      HWY_ALIGN float bound2[kTile];
      for (size_t lane = 0; lane < kTile; ++lane) bound2[lane] = lanes.bound2[lane] * to_come;
      lanes.bound2 = bound2;
      tile.stopped = NothingLeft(scoring_, lanes, first_key, tile.queries);
    } else {
      tile.stopped = NothingLeft(scoring_, tile.Lanes(), first_key, tile.queries);
    }
    if (tile.stopped) tile.first_key = first_key;
  }

  void Weigh(const KeyRows& keys, const TileLanes& lanes, float* scores, float* alpha) const {
    DispatchRule(options_.rule, [&](auto* rule) HWY_ATTR {
      using Rule = std::remove_pointer_t<decltype(rule)>;
      if constexpr (Rule::kBounded) {
        if (scoring_.dropout == DropoutOn::kLogits) {
          return WeighTileImpl<Rule, DropoutOn::kLogits, false>(scoring_, keys, lanes, scores, alpha);
        }
        if (scoring_.bounded && scoring_.dropout == DropoutOn::kNone) {
          return WeighTileImpl<Rule, DropoutOn::kNone, true>(scoring_, keys, lanes, scores, alpha);
        }
        if (scoring_.bounded) {
          return WeighTileImpl<Rule, DropoutOn::kWeights, true>(scoring_, keys, lanes, scores, alpha);
        }
      }
      if (scoring_.dropout == DropoutOn::kNone) {
        return WeighTileImpl<Rule, DropoutOn::kNone, false>(scoring_, keys, lanes, scores, alpha);
      }
      return WeighTileImpl<Rule, DropoutOn::kWeights, false>(scoring_, keys, lanes, scores, alpha);
    });
  }

  const uint32_t* DrawDropout(size_t batch, size_t head, size_t first_key, size_t rows, const QueryTile& tile,
                              Scratch& scratch) const {
    if (drop_below_ == 0) return nullptr;
    auto* bits = reinterpret_cast<uint32_t*>(scratch.bits.get());
    DropoutBitsTile(SequenceSeed(options_.seed, options_.numbers, batch), head, tile.first_position, first_key, rows,
                    bits);
    return bits;
  }

  // Adds the kept keys whose logit was dropped to 0, and nothing else.
  void TailBlock(size_t batch, size_t head, size_t first_key, size_t rows, QueryTile& tile, Scratch& scratch) const {
    const uint32_t* bits = DrawDropout(batch, head, first_key, rows, tile, scratch);
    const TileLanes lanes = tile.Lanes();
    ForEachDroppedKept(bits, drop_below_, rows, tile.queries, tile.q_t.get(), scratch.keys.get(), shape_.width,
                       k_stride_, [&](size_t r, size_t lane) {
                         float* o = tile.o_t.get() + lane;
                         if (lanes.max2[lane] < 0.0f) {
                           const float shrink = std::exp2(lanes.max2[lane]);
                           for (size_t c = 0; c < shape_.value_width; ++c) o[c * kTile] *= shrink;
                           lanes.sum[lane] *= shrink;
                           lanes.max2[lane] = 0.0f;
                         }
                         const float weight = std::exp2(-lanes.max2[lane]);
                         const float* value = scratch.values.get() + r * v_stride_;
                         for (size_t c = 0; c < shape_.value_width; ++c) o[c * kTile] += weight * value[c];
                         lanes.sum[lane] += weight;
                       });
  }

  void Finish(size_t batch, size_t head, size_t first, Scratch& scratch, const QueryTile& tile) const {
    const TileLanes lanes = tile.Lanes();
    HWY_ALIGN float scale[kTile];
    for (size_t lane = 0; lane < kTile; ++lane) {
      scale[lane] = lanes.sum[lane] == 0.0f ? 0.0f : 1.0f / lanes.sum[lane];  // a row that keeps nothing is zero
    }
    TransposeBack(tile.o_t.get(), scale, shape_.value_width, v_stride_, scratch.rows.get());
    for (size_t lane = 0; lane < tile.queries; ++lane) {
      std::memcpy(args_.out(batch, head, first + lane), scratch.rows.get() + lane * v_stride_,
                  shape_.value_width * sizeof(float));
    }
    const size_t at = (batch * shape_.heads + head) * shape_.queries + first;
    for (size_t lane = 0; lane < tile.queries && args_.log2_sum != nullptr; ++lane) {
      args_.log2_sum[at + lane] = lanes.sum[lane] == 0.0f ? std::numeric_limits<float>::infinity()
                                                          : lanes.max2[lane] + std::log2(lanes.sum[lane]);
    }
    if (args_.first_key != nullptr) {
      std::fill_n(args_.first_key + at, tile.queries, static_cast<int32_t>(tile.first_key));
    }
  }

  const ForwardArgs<float>& args_;
  const AttentionShape& shape_;
  const AttentionOptions& options_;
  const Scoring scoring_;
  const OwnTerms terms_;
  const Norm norm_;
  const KeyNorms* key_norms_;
  const uint32_t drop_below_;
  const size_t k_stride_, v_stride_;
  const size_t past_;  // keys before the first query
};

void RunForward(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyNorms* key_norms,
                Parallel& parallel) {
  const Forward forward(args, options, key_norms);
  const AttentionShape& shape = args.shape;
  const size_t heads = shape.batch * shape.heads;
  const size_t tiles = DivideUp(shape.queries, kTile);
  // Large groups pack keys less often, small ones keep all workers busy. No tile depends on its group, so neither does
  // the result.
  size_t groups = DivideUp(tiles, kMaxGroupTiles);
  while (heads * groups < 4 * parallel.Workers() && groups < tiles && parallel.Workers() > 1) ++groups;
  const size_t group_tiles = DivideUp(tiles, groups);
  groups = DivideUp(tiles, group_tiles);
  std::vector<Forward::Scratch> scratch(parallel.Workers());
  parallel.Run(heads * groups, [&](size_t task, size_t worker) {
    // The last queries see the most keys: longest tasks first.
    const size_t group = groups - 1 - task / heads;
    const size_t head = task % heads;
    const size_t first = group * group_tiles * kTile;
    forward.Group(head / shape.heads, head % shape.heads, first, std::min(shape.queries, first + group_tiles * kTile),
                  scratch[worker]);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(RunForward);

void AttentionForward(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  CheckProblem(args.shape, options);
  if (args.shape.batch * args.shape.heads * args.shape.queries == 0) return;
  const std::unique_ptr<KeyNorms> key_norms = KeyNorms::IfNeeded(args.shape, args.k, options, parallel);
  HWY_DYNAMIC_DISPATCH(RunForward)(args, options, key_norms.get(), parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
