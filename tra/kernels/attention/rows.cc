// Computes rectangles of the attention matrix with every term of the logits. The fused forward runs first, for the sums
// and for the place where it stops; then a second walk makes the same scores again, as the backward does, and writes
// down what it sees.
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "tra/kernels/attention/key_length_bound.h"
#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/passes.h"
#include "tra/kernels/attention_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/attention/rows.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/products-inl.h"
#include "tra/kernels/attention/rules-inl.h"
#include "tra/kernels/attention/weigh-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

static_assert(kTilesStartAt % kTile == 0, "a tile must not begin before the first query of a plan");

template <class Rule>
class RowsWalk {
 public:
  RowsWalk(const AttentionRowsArgs<float>& args, const AttentionOptions& options, const RowsPlan& plan)
      : args_(args),
        plan_(plan),
        shape_(plan.forward.shape),
        scoring_(shape_, options),
        call_(shape_, plan.forward.rule_input),
        norm_{options.qk_norm, options.norm_eps},
        stride_(PackedStride(shape_.width)),
        keys_(AllocateFloats(kKeyBlock * stride_)),
        key_scales_(AllocateFloats(kKeyBlock)),
        rows_(AllocateFloats(kTileRows * std::max(stride_, Rule::InputStride(shape_)))),
        scores_(AllocateFloats(kKeyBlock * kTile)),
        block_(shape_),
        tile_(shape_) {}

  // Computes the tile of queries that starts at `first` of the plan.
  void ComputeTile(size_t batch, size_t head, size_t first) {
    TilePlace place;
    place.batch = batch;
    place.head = head;
    place.first = first;
    place.queries = std::min(kTile, shape_.queries - first);
    place.first_position = shape_.keys - shape_.queries + first;
    tile_.Begin(plan_.forward, scoring_, norm_, call_, plan_.key_lengths != nullptr, place, rows_.get());
    const size_t at = shape_.QueryIndex(batch, head, first);
    std::fill_n(minus_sum_, kTile, 0.0f);
    for (size_t lane = 0; lane < place.queries; ++lane) minus_sum_[lane] = -plan_.forward.log2_sum[at + lane];
    const auto stopped_at = static_cast<size_t>(plan_.forward.first_key[at]);
    ClearRows(place, stopped_at);
    const HeadRows<const float> k = OfHead(plan_.forward.k, batch, head);
    const size_t leftmost = std::min(args_.first_key, stopped_at);
    for (size_t end = place.first_position + place.queries; end > leftmost;) {
      const size_t first_key = (end - 1) / kKeyBlock * kKeyBlock;
      PackRows(k, first_key, end, shape_.width, stride_, norm_, keys_.get(), key_scales_.get());
      VisitBlock(first_key, end - first_key, stopped_at);
      if (first_key == stopped_at && stopped_at > 0) StoreBounds(stopped_at);
      end = first_key;
    }
  }

 private:
  // Calls of(lane, index of its row in the rectangle) for the lanes whose query is in the rectangle.
  template <class Of>
  void ForEachRow(const TilePlace& place, const Of& of) const {
    for (size_t lane = 0; lane < place.queries; ++lane) {
      const size_t query = plan_.first_query + place.first + lane;
      if (query < args_.first_query || query >= args_.first_query + args_.queries) continue;
      of(lane, (place.batch * shape_.heads + place.head) * args_.queries + query - args_.first_query);
    }
  }

  void ClearRows(const TilePlace& place, size_t stopped_at) const {
    ForEachRow(place, [&](size_t /*lane*/, size_t row) {
      const size_t at = row * args_.keys;
      if (args_.state != nullptr) std::fill_n(args_.state + at, args_.keys, static_cast<uint8_t>(KeyState::kFuture));
      for (float* each : {args_.score, args_.position, args_.term, args_.weight}) {
        if (each != nullptr) std::fill_n(each + at, args_.keys, 0.0f);
      }
      if (args_.logit != nullptr) {
        std::fill_n(args_.logit + at, args_.keys, -std::numeric_limits<float>::infinity());
      }
      if (args_.stopped_at != nullptr) args_.stopped_at[row] = static_cast<int32_t>(stopped_at);
      if (args_.unseen != nullptr) args_.unseen[row] = 0.0f;
    });
  }

  void VisitBlock(size_t first_key, size_t rows, size_t stopped_at) {
    const DF df;
    KeyRows keys;
    keys.first_key = first_key;
    keys.rows = rows;
    keys.first_position = static_cast<ptrdiff_t>(tile_.place.first_position);
    keys.scales = norm_.on ? key_scales_.get() : nullptr;
    keys.FindEnds(tile_.place.queries);
    DotTile(keys, keys_.get(), shape_.width, stride_, tile_.q_t.get(), scores_.get());
    block_.Begin(call_, tile_.place, first_key, rows);
    for (size_t v = 0; v < keys.vecs; ++v) {
      const VF lanes = CountFrom(df, static_cast<float>(v * kLanes));
      const VF to_log2 = hn::Load(df, tile_.lanes.to_log2 + v * kLanes);
      const VF minus_sum = hn::Load(df, minus_sum_ + v * kLanes);
      typename Rule::Walk walk(tile_.rule, block_, v);
      RightToLeft(keys, v, [&](size_t r, auto /*diagonal*/) HWY_ATTR {
        const VF score = hn::Load(df, scores_.get() + r * kTile + v * kLanes);
        const VF scale = keys.Scale(r, to_log2);
        const ptrdiff_t first_distance = keys.first_position - static_cast<ptrdiff_t>(first_key + r);
        const VF distance = hn::Add(lanes, hn::Set(df, static_cast<float>(first_distance)));
        const VF weight_log2 = walk.Logit(score, scale, minus_sum, keys, r);
        const LogitParts parts = walk.Parts(distance, keys, r);
        const MF rejected = Rejected<Rule, true>(keys, r, score, lanes);
        walk.Next(rejected);
        const size_t key = first_key + r;
        if (key < args_.first_key || key >= args_.first_key + args_.keys) return;
        Seen seen;
        hn::Store(hn::Mul(hn::Mul(score, scale), hn::Set(df, static_cast<float>(kLn2))), df, seen.score);
        hn::Store(parts.position, df, seen.position);
        hn::Store(hn::Mul(parts.term_log2, hn::Set(df, static_cast<float>(kLn2))), df, seen.term);
        hn::Store(Exp2Unless(rejected, weight_log2), df, seen.weight);
        hn::Store(hn::IfThenElse(rejected, hn::Set(df, 1.0f), hn::Zero(df)), df, seen.rejected);
        WriteKey(key, v * kLanes, key >= stopped_at, seen);
      });
      walk.Save(tile_.rule, v);
    }
  }

  // Holds what one key is to the queries of a vector.
  struct Seen {
    HWY_ALIGN float score[kLanes], position[kLanes], term[kLanes], weight[kLanes], rejected[kLanes];
  };

  void WriteKey(size_t key, size_t first_lane, bool visited, const Seen& seen) const {
    const auto write = [](auto* to, size_t at, auto value) {
      if (to != nullptr) to[at] = value;
    };
    ForEachRow(tile_.place, [&](size_t lane, size_t row) {
      if (lane < first_lane || lane >= first_lane + kLanes || key > tile_.place.first_position + lane) return;
      const size_t i = lane - first_lane, at = row * args_.keys + key - args_.first_key;
      const bool kept = seen.rejected[i] == 0.0f;
      const KeyState state = !kept ? KeyState::kDropped : visited ? KeyState::kKept : KeyState::kSkipped;
      write(args_.state, at, static_cast<uint8_t>(state));
      write(args_.score, at, seen.score[i]);
      write(args_.position, at, kept ? seen.position[i] : 0.0f);
      write(args_.term, at, kept ? seen.term[i] : 0.0f);
      if (kept) write(args_.logit, at, seen.score[i] + seen.term[i]);
      if (kept && visited) write(args_.weight, at, seen.weight[i]);
    });
  }

  void StoreBounds(size_t stopped_at) const {
    if constexpr (Rule::kInfo.stops) {
      if (args_.unseen == nullptr) return;
      const float longest_key = plan_.key_lengths == nullptr
                                    ? 1.0f
                                    : plan_.key_lengths->LongestBefore(tile_.place.batch, tile_.place.head, stopped_at);
      ForEachRow(tile_.place, [&](size_t lane, size_t row) {
        args_.unseen[row] =
            tile_.rule.UnseenShare(lane, tile_.query_bound_log2[lane] * longest_key, -minus_sum_[lane], stopped_at);
      });
    }
  }

  const AttentionRowsArgs<float>& args_;
  const RowsPlan& plan_;
  const AttentionShape& shape_;
  const Scoring scoring_;
  const typename Rule::Call call_;
  const Norm norm_;
  const size_t stride_;
  Floats keys_, key_scales_, rows_, scores_;
  typename Rule::Block block_;
  QueryTile<Rule> tile_;
  HWY_ALIGN float minus_sum_[kTile];
};

void RowsOfTarget(const AttentionRowsArgs<float>& args, const AttentionOptions& options, const RowsPlan& plan,
                  Parallel& parallel) {
  DispatchRule(options.rule, [&](auto* rule) {
    using Walk = RowsWalk<std::remove_pointer_t<decltype(rule)>>;
    const AttentionShape& shape = plan.forward.shape;
    const size_t tiles = DivideUp(shape.queries, kTile);
    std::vector<std::unique_ptr<Walk>> walks(parallel.Workers());
    parallel.Run(shape.batch * shape.heads * tiles, [&](size_t task, size_t worker) {
      const size_t first = task % tiles * kTile, query = plan.first_query + first;
      if (query + kTile <= args.first_query || query >= args.first_query + args.queries) return;  // shows no row
      if (walks[worker] == nullptr) walks[worker] = std::make_unique<Walk>(args, options, plan);
      const size_t head = task / tiles;
      walks[worker]->ComputeTile(head / shape.heads, head % shape.heads, first);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(RowsOfTarget);

void RunRows(const AttentionRowsArgs<float>& args, const AttentionOptions& options, const RowsPlan& plan,
             Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(RowsOfTarget)(args, options, plan, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
