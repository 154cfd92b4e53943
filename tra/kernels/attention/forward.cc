// Computes the forward pass. A task is a group of queries of one head; it visits the keys from right to left, in blocks
// that are packed once and used by every tile of queries that has not stopped.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/attention/forward.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/attention/dropout_masks-inl.h"
#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/products-inl.h"
#include "tra/kernels/attention/rules-inl.h"
#include "tra/kernels/attention/stop-inl.h"
#include "tra/kernels/attention/weigh-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

constexpr size_t kMaxGroupTiles = 32;

template <class Rule>
class Forward {
 public:
  using Tile = QueryTile<Rule>;

  Forward(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyLengthBound* key_lengths)
      : args_(args),
        shape_(args.shape),
        scoring_(args.shape, options),
        stop_(scoring_),
        dropout_(options, scoring_),
        call_(args.shape, args.rule_input),
        norm_{options.qk_norm, options.norm_eps},
        key_lengths_(key_lengths),
        k_stride_(PackedStride(shape_.width)),
        v_stride_(PackedStride(shape_.value_width)),
        past_(shape_.keys - shape_.queries) {}

  // Holds the buffers of one worker.
  struct Scratch {
    explicit Scratch(const Forward& forward)
        : keys(AllocateFloats(kKeyBlock * forward.k_stride_)),
          values(AllocateFloats(kKeyBlock * forward.v_stride_)),
          key_scales(AllocateFloats(kKeyBlock)),
          rows(AllocateFloats(kTileRows * std::max(forward.k_stride_, Rule::InputStride(forward.shape_)))),
          scores(AllocateFloats(kKeyBlock * kTile)),
          alpha(AllocateFloats(kTile)),
          masks(forward.dropout_.AllocateMasks()),
          block(forward.shape_) {
      std::fill_n(alpha.get(), kTile, 1.0f);
      tiles.reserve(kMaxGroupTiles);  // so that no tile is moved while its arrays have no values
    }

    Floats keys, values;  // [kKeyBlock][stride]
    Floats key_scales;    // [kKeyBlock]
    Floats rows;          // [kTileRows][stride]: queries, then the rule's input, before they are transposed
    Floats scores;        // [kKeyBlock][kTile]
    Floats alpha;         // [kTile]
    Bytes masks;          // see DropoutDraws
    typename Rule::Block block;
    std::vector<Tile> tiles;
    uint16_t list[kKeyBlock];
    bool values_finite = true;
  };

  // Computes the queries [first, last) of a head.
  void ComputeGroup(size_t batch, size_t head, size_t first, size_t last, Scratch& scratch) const {
    const size_t tiles = DivideUp(last - first, kTile);
    while (scratch.tiles.size() < tiles) scratch.tiles.emplace_back(shape_);
    for (size_t t = 0; t < tiles; ++t) {
      TilePlace place;
      place.batch = batch;
      place.head = head;
      place.first = first + t * kTile;
      place.queries = std::min(kTile, last - place.first);
      place.first_position = past_ + place.first;
      scratch.tiles[t].Begin(args_, scoring_, norm_, call_, key_lengths_ != nullptr, place, scratch.rows.get());
    }

    const HeadRows<const float> k = OfHead(args_.k, batch, head);
    const HeadRows<const float> v = OfHead(args_.v, batch, head);
    const size_t visible = past_ + last;  // the group sees the keys before this one
    for (size_t block_end = visible; block_end > 0;) {
      const size_t first_key = (block_end - 1) / kKeyBlock * kKeyBlock;
      bool all_stopped = true;
      for (size_t t = 0; t < tiles; ++t) all_stopped &= scratch.tiles[t].stopped && !scoring_.HasTail();
      if (all_stopped) break;
      PackRows(k, first_key, block_end, shape_.width, k_stride_, norm_, scratch.keys.get(), scratch.key_scales.get());
      scratch.values_finite =
          PackRows(v, first_key, block_end, shape_.value_width, v_stride_, Norm(), scratch.values.get(), nullptr);
      for (size_t t = 0; t < tiles; ++t) {
        Tile& tile = scratch.tiles[t];
        const size_t end = std::min(block_end, tile.place.first_position + tile.place.queries);
        if (end <= first_key) continue;
        if (!tile.stopped) {
          ComputeBlock(first_key, end - first_key, tile, scratch);
        } else if (scoring_.HasTail()) {
          AddTailBlock(first_key, end - first_key, tile, scratch);
        }
      }
      block_end = first_key;
    }
    for (size_t t = 0; t < tiles; ++t) FinishTile(scratch.tiles[t]);
  }

 private:
  void ComputeBlock(size_t first_key, size_t rows, Tile& tile, Scratch& scratch) const {
    const TilePlace& place = tile.place;
    float* scores = scratch.scores.get();
    KeyRows keys;
    keys.first_key = first_key;
    keys.rows = rows;
    keys.first_position = static_cast<ptrdiff_t>(place.first_position);
    keys.scales = norm_.on ? scratch.key_scales.get() : nullptr;
    keys.FindEnds(place.queries);
    DotTile(keys, scratch.keys.get(), shape_.width, k_stride_, tile.q_t.get(), scores);
    if constexpr (Rule::kInfo.drops_keys) SelectLiveRows(keys, place.queries, scores, scratch.list);
    if (keys.rows > 0) {
      scratch.block.Begin(call_, place, first_key, rows);
      keys.dropped = dropout_.Draw(place, first_key, rows, scratch.masks);
      WeighTile<Rule>(scoring_, keys, scratch.block, tile, scores, scratch.alpha.get());
      SumOverKeys(keys, scores, place.queries, scratch.values.get(), v_stride_, shape_.value_width, scratch.alpha.get(),
                  !scratch.values_finite, v_stride_, tile.out.get());
    }
    if constexpr (Rule::kInfo.stops) {
      if (first_key == 0 || scoring_.stop_eps == kStopNever) return;
      const float longest_key =
          key_lengths_ == nullptr ? 1.0f : key_lengths_->LongestBefore(place.batch, place.head, first_key);
      tile.stopped = tile.rule.MayStop(stop_, scoring_, place, tile.query_bound_log2, longest_key, tile.lanes.max_log2,
                                       tile.lanes.sum, first_key);
      if (tile.stopped) tile.first_key = first_key;
    }
  }

  // Adds only the kept keys whose logit dropout set to 0.
  void AddTailBlock(size_t first_key, size_t rows, Tile& tile, Scratch& scratch) const {
    const TilePlace& place = tile.place;
    const uint8_t* dropped = dropout_.Draw(place, first_key, rows, scratch.masks);
    SoftmaxLanes& lanes = tile.lanes;
    ForEachDroppedKept(dropped, rows, place.queries, tile.q_t.get(), scratch.keys.get(), shape_.width, k_stride_,
                       [&](size_t r, size_t lane) {
                         float* o = tile.out.get() + lane * v_stride_;
                         if (lanes.max_log2[lane] < 0.0f) {
                           const float shrink = std::exp2(lanes.max_log2[lane]);
                           for (size_t c = 0; c < shape_.value_width; ++c) o[c] *= shrink;
                           lanes.sum[lane] *= shrink;
                           lanes.max_log2[lane] = 0.0f;
                         }
                         const float weight = std::exp2(-lanes.max_log2[lane]);
                         const float* value = scratch.values.get() + r * v_stride_;
                         for (size_t c = 0; c < shape_.value_width; ++c) o[c] += weight * value[c];
                         lanes.sum[lane] += weight;
                       });
  }

  void FinishTile(const Tile& tile) const {
    const TilePlace& place = tile.place;
    const SoftmaxLanes& lanes = tile.lanes;
    // A row that keeps nothing is zero.
    const auto scale = [&](size_t lane) { return lanes.sum[lane] == 0.0f ? 0.0f : 1.0f / lanes.sum[lane]; };
    AddRows(tile.out.get(), v_stride_, place.queries, shape_.value_width, scale, true, OfTile(args_.out, place));
    const size_t at = shape_.QueryIndex(place.batch, place.head, place.first);
    for (size_t lane = 0; lane < place.queries && args_.log2_sum != nullptr; ++lane) {
      args_.log2_sum[at + lane] = lanes.sum[lane] == 0.0f ? std::numeric_limits<float>::infinity()
                                                          : lanes.max_log2[lane] + std::log2(lanes.sum[lane]);
    }
    if (args_.first_key != nullptr) {
      std::fill_n(args_.first_key + at, place.queries, static_cast<int32_t>(tile.first_key));
    }
  }

  const ForwardArgs<float>& args_;
  const AttentionShape& shape_;
  const Scoring scoring_;
  const StopTest stop_;
  const DropoutDraws dropout_;
  const typename Rule::Call call_;
  const Norm norm_;
  const KeyLengthBound* key_lengths_;
  const size_t k_stride_, v_stride_;
  const size_t past_;  // keys before the first query
};

// Names the queries [first, last) of a sequence. A task computes them for one head.
struct QueryGroup {
  size_t batch, first, last;
};

// Cuts the queries into groups. Large groups pack keys less often, small ones keep all workers busy. No tile depends on
// its group, so neither does the result.
inline std::vector<QueryGroup> CutIntoGroups(const AttentionShape& shape, size_t workers) {
  const auto groups_of = [&](size_t batch, size_t most_tiles) {
    return DivideUp(DivideUp(shape.Queries(batch), kTile), most_tiles);
  };
  const auto count = [&](size_t most_tiles) {
    size_t groups = 0;
    for (size_t b = 0; b < shape.batch; ++b) groups += groups_of(b, most_tiles);
    return groups;
  };
  size_t most_tiles = kMaxGroupTiles;
  while (workers > 1 && most_tiles > 1 && shape.heads * count(most_tiles) < 4 * workers) --most_tiles;
  std::vector<QueryGroup> groups;
  groups.reserve(count(most_tiles));
  for (size_t b = 0; b < shape.batch; ++b) {
    const size_t queries = shape.Queries(b), tiles = DivideUp(queries, kTile);
    const size_t size = queries == 0 ? 1 : DivideUp(tiles, groups_of(b, most_tiles)) * kTile;
    for (size_t first = 0; first < queries; first += size) {
      groups.push_back({b, first, std::min(queries, first + size)});
    }
  }
  // The last queries see the most keys, so the longest tasks come first.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const QueryGroup& a, const QueryGroup& b) { return a.last > b.last; });
  return groups;
}

template <class Rule>
void ForwardOfRule(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyLengthBound* key_lengths,
                   Parallel& parallel) {
  const Forward<Rule> forward(args, options, key_lengths);
  using Scratch = typename Forward<Rule>::Scratch;
  const size_t heads = args.shape.heads;
  const std::vector<QueryGroup> groups = CutIntoGroups(args.shape, parallel.Workers());
  std::vector<std::unique_ptr<Scratch>> scratch(parallel.Workers());
  parallel.Run(heads * groups.size(), [&](size_t task, size_t worker) {
    if (scratch[worker] == nullptr) scratch[worker] = std::make_unique<Scratch>(forward);
    const QueryGroup& group = groups[task / heads];
    forward.ComputeGroup(group.batch, task % heads, group.first, group.last, *scratch[worker]);
  });
}

void ForwardOfTarget(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyLengthBound* key_lengths,
                     Parallel& parallel) {
  DispatchRule(options.rule, [&](auto* rule) {
    ForwardOfRule<std::remove_pointer_t<decltype(rule)>>(args, options, key_lengths, parallel);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(ForwardOfTarget);

void RunForward(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyLengthBound* key_lengths,
                Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(ForwardOfTarget)(args, options, key_lengths, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
