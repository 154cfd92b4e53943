// Computes the backward pass. A head's triangle of (query, key) pairs is cut into square chunks, which are visited
// diagonal by diagonal: in one phase, chunk i of the queries meets chunk i - phase of the keys. No two tasks of a phase
// share a query or a key, so none needs an atomic or a private copy of dK; every row adds its parts in the same order
// whatever the threads do; and each query meets its keys from right to left, so its count of kept keys simply carries
// on from phase to phase.
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
#define HWY_TARGET_INCLUDE "tra/kernels/attention/backward.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/attention/dropout_masks-inl.h"
#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/products-inl.h"
#include "tra/kernels/attention/rules-inl.h"
#include "tra/kernels/attention/weigh-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

static_assert(kKeyBlock % kTile == 0, "chunks must be made of the forward's tiles: they stopped together");

// Returns the number of queries, and of keys, per chunk of a sequence. Large chunks are packed less often, small ones
// keep workers busy where there would be few. Neither the number of workers nor what else is in the batch may matter,
// or the result would depend on it.
inline size_t ChunkSize(size_t heads, size_t queries) {
  constexpr size_t kLarge = 6, kSmall = 2, kEnoughTasks = 4;  // in blocks; tasks of a sequence
  const size_t blocks = DivideUp(queries, kKeyBlock);
  const size_t most = heads * DivideUp(blocks, kLarge) >= kEnoughTasks ? kLarge : kSmall;
  return kKeyBlock * std::clamp(blocks, size_t{1}, most);
}

inline ChunkPlan PlanChunks(const AttentionShape& shape) {
  ChunkPlan plan;
  plan.first.push_back(0);
  for (size_t b = 0; b < shape.batch; ++b) {
    plan.size.push_back(ChunkSize(shape.heads, shape.Queries(b)));
    plan.first.push_back(plan.first.back() + DivideUp(shape.Queries(b), plan.size.back()));
  }
  return plan;
}

// Scores are in units of log2, their gradients are not.
constexpr auto kScoreScale = [](size_t /*row*/) { return static_cast<float>(kLn2); };

// Says which gradients a walk over the diagonals collects: see Rule::kNeedsTotals.
enum class Collect : uint8_t { kTotals, kAll };

template <class Rule>
class Backward {
 public:
  Backward(const BackwardArgs<float>& args, const AttentionOptions& options)
      : args_(args),
        shape_(args.shape),
        scoring_(args.shape, options),
        dropout_(options, scoring_),
        call_(args.shape, args.rule_input),
        norm_{options.qk_norm, options.norm_eps},
        k_stride_(PackedStride(shape_.width)),
        v_stride_(PackedStride(shape_.value_width)),
        past_(shape_.keys - shape_.queries),
        plan_(PlanChunks(shape_)),
        most_chunk_keys_(plan_.size.empty() ? 0 : *std::max_element(plan_.size.begin(), plan_.size.end())),
        delta_(shape_.AllQueries()),
        carried_(kCarried * shape_.AllQueries()),
        gradients_(shape_, plan_) {}

  // Holds the buffers of one worker.
  struct Scratch {
    explicit Scratch(const Backward& b)
        // DotTile rounds its number of rows up, wherever they start.
        : keys(AllocateFloats((b.most_chunk_keys_ + kDotRows) * b.k_stride_)),
          values(AllocateFloats((b.most_chunk_keys_ + kDotRows) * b.v_stride_)),
          key_scales(AllocateFloats(b.most_chunk_keys_)),
          d_keys(AllocateFloats(b.most_chunk_keys_ * b.k_stride_)),
          d_values(AllocateFloats(b.most_chunk_keys_ * b.v_stride_)),
          q(AllocateFloats(kTileRows * b.k_stride_)),
          d_out(AllocateFloats(kTileRows * b.v_stride_)),
          q_t(AllocateFloats(b.k_stride_ * kTile)),
          d_out_t(AllocateFloats(b.v_stride_ * kTile)),
          d_q(AllocateFloats(kTile * b.k_stride_)),
          weights(AllocateFloats(kKeyBlock * kTile)),
          d_scores(AllocateFloats(kKeyBlock * kTile)),
          masks(b.dropout_.AllocateMasks()),
          ones(AllocateFloats(kTile)),
          rows(AllocateFloats(kTileRows * std::max(b.k_stride_, Rule::InputStride(b.shape_)))),
          tile(b.shape_),
          block(b.shape_) {
      std::fill_n(ones.get(), kTile, 1.0f);
    }

    Floats keys, values;      // [most_chunk_keys_][stride]
    Floats key_scales;        // [most_chunk_keys_]
    Floats d_keys, d_values;  // [most_chunk_keys_][stride]
    Floats q, d_out;          // [kTileRows][stride]
    Floats q_t, d_out_t;      // [width][kTile]
    Floats d_q;               // [kTile][stride]
    Floats weights;           // [kKeyBlock][kTile]: scores, then weights
    Floats d_scores;          // [kKeyBlock][kTile]: dP, then dS
    Bytes masks;              // see DropoutDraws
    Floats ones;              // [kTile]
    Floats rows;              // [kTileRows][stride]: the rule's input before it is transposed
    GradLanes lanes;
    typename Rule::GradTile tile;
    typename Rule::GradBlock block;
    uint16_t list[kKeyBlock];
    bool keys_finite = true, values_finite = true, queries_finite = true, d_out_finite = true;
  };

  // Says which walk over the diagonals a task belongs to, and its place in that walk.
  struct Task {
    Collect collect = Collect::kAll;
    ChunkPlace place;
  };

  // Lists the chunks of queries that meet keys in this phase; they are none once all phases are done.
  std::vector<ChunkPlace> ChunksOf(size_t phase) const {
    std::vector<ChunkPlace> chunks;
    for (size_t b = 0; b < shape_.batch; ++b) {
      // Chunk i of the queries has i + PastChunks() chunks of keys to its left.
      const size_t past = PastChunks(b);
      for (size_t i = phase > past ? phase - past : 0; i < plan_.Chunks(b); ++i) {
        ChunkPlace place;
        place.batch = b;
        place.chunk = i;
        place.phase = phase;
        chunks.push_back(place);
      }
    }
    return chunks;
  }
  void EndPhase(const std::vector<ChunkPlace>& done) { gradients_.EndPhase(done); }
  void StoreSharedGradients() const { gradients_.Store(args_.d_rule_input); }

  // Computes a chunk of the queries against the chunk of keys `phase` to the left of the diagonal.
  void ComputeChunk(size_t head, const Task& task, Scratch& scratch) {
    const size_t batch = task.place.batch, chunk = task.place.chunk, phase = task.place.phase;
    const size_t chunk_size = plan_.size[batch];
    const ptrdiff_t key_chunk = static_cast<ptrdiff_t>(chunk) - static_cast<ptrdiff_t>(phase);
    const ptrdiff_t start = static_cast<ptrdiff_t>(past_) + key_chunk * static_cast<ptrdiff_t>(chunk_size);
    const size_t first_key = static_cast<size_t>(std::max<ptrdiff_t>(start, 0));
    const size_t last_key =
        std::min(static_cast<size_t>(start + static_cast<ptrdiff_t>(chunk_size)), shape_.Keys(batch));
    const bool first_visit = key_chunk >= 0 ? phase == 0 : chunk == 0;
    const size_t first = chunk * chunk_size;
    const size_t last = std::min(first + chunk_size, shape_.Queries(batch));

    // Chunks of keys that no tile reached before it stopped are not visited, unless their gradients must be zeroed.
    size_t reached = last_key;
    for (size_t i = first; i < last && !scoring_.HasTail(); i += kTile) {
      reached = std::min(reached, FirstKey(batch, head, i));
    }
    const bool visit = scoring_.HasTail() || reached < last_key;
    if (visit || first_visit || phase == 0) {
      if (visit) PackKeys(batch, head, first_key, last_key, scratch);
      std::memset(scratch.d_keys.get(), 0, (last_key - first_key) * k_stride_ * sizeof(float));
      std::memset(scratch.d_values.get(), 0, (last_key - first_key) * v_stride_ * sizeof(float));
      for (size_t i = first; i < last; i += kTile) {
        TilePlace place;
        place.batch = batch;
        place.head = head;
        place.first = i;
        place.queries = std::min(kTile, last - i);
        place.first_position = past_ + i;
        ComputeTile(place, first_key, last_key, task, scratch);
      }
      if (task.collect == Collect::kAll) AddKeyGradients(batch, head, first_key, last_key, first_visit, scratch);
    }
    if (!norm_.on || task.collect == Collect::kTotals) return;
    // Rows whose gradient is now complete go back through QK-norm while they are in the cache.
    if (chunk + 1 == plan_.Chunks(batch)) {
      NormBackward(OfHead(args_.k, batch, head), first_key, last_key, OfHead(args_.d_k, batch, head));
    }
    if (key_chunk == -static_cast<ptrdiff_t>(PastChunks(batch))) {
      NormBackward(OfHead(args_.q, batch, head), first, last, OfHead(args_.d_q, batch, head));
    }
  }

 private:
  size_t PastChunks(size_t batch) const { return DivideUp(past_, plan_.size[batch]); }

  void PackKeys(size_t batch, size_t head, size_t first_key, size_t last_key, Scratch& scratch) const {
    scratch.keys_finite = PackRows(OfHead(args_.k, batch, head), first_key, last_key, shape_.width, k_stride_, norm_,
                                   scratch.keys.get(), scratch.key_scales.get());
    scratch.values_finite = PackRows(OfHead(args_.v, batch, head), first_key, last_key, shape_.value_width, v_stride_,
                                     Norm(), scratch.values.get(), nullptr);
  }

  void AddKeyGradients(size_t batch, size_t head, size_t first_key, size_t last_key, bool overwrite,
                       const Scratch& scratch) const {
    const HeadRows<float> d_k = {args_.d_k(batch, head, first_key), args_.d_k.row_stride};
    const HeadRows<float> d_v = {args_.d_v(batch, head, first_key), args_.d_v.row_stride};
    const size_t rows = last_key - first_key;
    AddRows(scratch.d_keys.get(), k_stride_, rows, shape_.width, kScoreScale, overwrite, d_k);
    AddRows(
        scratch.d_values.get(), v_stride_, rows, shape_.value_width, [](size_t) { return 1.0f; }, overwrite, d_v);
  }

  // Takes the gradients of the rows [first, last) back through QK-norm, a vector of rows at a time.
  void NormBackward(const HeadRows<const float>& x, size_t first, size_t last, const HeadRows<float>& d_x) const {
    const DF df;
    HWY_ALIGN float squares[kLanes] = {}, dots[kLanes] = {}, along[kLanes];
    for (; first < last; first += kLanes) {
      const size_t rows = std::min(kLanes, last - first);
      for (size_t i = 0; i < rows; ++i) {
        if (first + i + kPrefetchRows < last) PrefetchRow(x(first + i + kPrefetchRows), shape_.width);
        squares[i] = SumOfSquares(x(first + i), shape_.width);
        dots[i] = DotRows(x(first + i), d_x(first + i), shape_.width);
      }
      // forward: y = x * r   so: dx = dy * r - x * r^2 * mean(x * dy * r); d_x already holds dy * r
      const VF r = NormScales(hn::Load(df, squares), shape_.width, norm_);
      const VF sums = hn::Mul(hn::Mul(hn::Neg(r), r), hn::Load(df, dots));
      hn::Store(hn::Div(sums, hn::Set(df, static_cast<float>(shape_.width))), df, along);
      for (size_t i = 0; i < rows; ++i) AddRow(x(first + i), shape_.width, along[i], false, d_x(first + i));
    }
  }

  size_t FirstKey(size_t batch, size_t head, size_t query) const {
    return static_cast<size_t>(args_.first_key[shape_.QueryIndex(batch, head, query)]);
  }

  // Computes a tile of queries against the packed keys [first_key, last_key).
  void ComputeTile(const TilePlace& place, size_t first_key, size_t last_key, const Task& task, Scratch& scratch) {
    const bool first_phase = task.place.phase == 0;
    const size_t stop = FirstKey(place.batch, place.head, place.first);
    const size_t visible = std::min(last_key, place.first_position + place.queries);
    const size_t reached = std::max(first_key, stop);
    const bool has_tail = scoring_.HasTail() && stop > first_key;
    if (reached >= visible && !has_tail && !first_phase) return;
    BeginTile(place, first_phase, scratch);

    // Blocks start where the chunk does: neither the weights nor the mask depend on how keys are cut into blocks.
    for (size_t end = visible; end > reached;) {
      const size_t begin = std::max(first_key + (end - 1 - first_key) / kKeyBlock * kKeyBlock, reached);
      ComputeBlock(place, begin, end, first_key, task, scratch);
      end = begin;
    }
    if (has_tail) AddTail(place, first_key, std::min(stop, last_key), scratch);

    for (size_t lane = 0; lane < place.queries; ++lane) {
      scratch.tile.Keep(lane,
                        carried_.data() + kCarried * shape_.QueryIndex(place.batch, place.head, place.first + lane));
    }
    if (task.collect == Collect::kTotals) return;
    AddRows(scratch.d_q.get(), k_stride_, place.queries, shape_.width, kScoreScale, first_phase,
            OfTile(args_.d_q, place));
    scratch.tile.Store(args_.d_rule_input, place, first_phase);
  }

  void BeginTile(const TilePlace& place, bool first_phase, Scratch& scratch) {
    GradLanes& lanes = scratch.lanes;
    scratch.queries_finite =
        PackQueries(OfHead(args_.q, place.batch, place.head), place.first, place.queries, shape_.width, k_stride_,
                    norm_, scratch.q.get(), scratch.q_t.get(), lanes.to_log2);
    ScaleToLog2(scoring_, place.queries, lanes.to_log2);
    scratch.d_out_finite =
        PackQueries(OfHead(args_.d_out, place.batch, place.head), place.first, place.queries, shape_.value_width,
                    v_stride_, Norm(), scratch.d_out.get(), scratch.d_out_t.get(), nullptr);
    scratch.tile.Begin(call_, scoring_, place, scratch.rows.get());
    // A lane without a query has no weight anywhere.
    std::fill_n(lanes.log2_sum, kTile, std::numeric_limits<float>::infinity());
    std::fill_n(lanes.delta, kTile, 0.0f);
    for (size_t lane = 0; lane < place.queries; ++lane) {
      const size_t query = place.first + lane, at = shape_.QueryIndex(place.batch, place.head, query);
      if (first_phase) {
        delta_[at] = DotRows(args_.d_out(place.batch, place.head, query), args_.out(place.batch, place.head, query),
                             shape_.value_width);
      }
      lanes.log2_sum[lane] = args_.log2_sum[at];
      lanes.delta[lane] = delta_[at];
      scratch.tile.Restore(lane, carried_.data() + kCarried * at, first_phase);
    }
    std::memset(scratch.d_q.get(), 0, place.queries * k_stride_ * sizeof(float));
  }

  // Computes a tile of queries against the keys [begin, end) of the chunk that starts at chunk_key.
  void ComputeBlock(const TilePlace& place, size_t begin, size_t end, size_t chunk_key, const Task& task,
                    Scratch& scratch) {
    const size_t rows = end - begin;
    const float* k = scratch.keys.get() + (begin - chunk_key) * k_stride_;
    const float* v = scratch.values.get() + (begin - chunk_key) * v_stride_;
    float* d_k = scratch.d_keys.get() + (begin - chunk_key) * k_stride_;
    float* d_v = scratch.d_values.get() + (begin - chunk_key) * v_stride_;
    float* weights = scratch.weights.get();
    float* d_scores = scratch.d_scores.get();

    KeyRows keys;
    keys.first_key = begin;
    keys.rows = rows;
    keys.first_position = static_cast<ptrdiff_t>(place.first_position);
    keys.scales = norm_.on ? scratch.key_scales.get() + (begin - chunk_key) : nullptr;
    keys.FindEnds(place.queries);
    DotTile(keys, k, shape_.width, k_stride_, scratch.q_t.get(), weights);
    if constexpr (Rule::kInfo.drops_keys) {
      SelectLiveRows(keys, place.queries, weights, scratch.list);
      if (keys.rows == 0) return;
    }
    scratch.block.Begin(call_, place, begin, rows);
    scratch.block.BeginGrad(gradients_, place, task.place, begin, rows);
    keys.dropped = dropout_.Draw(place, begin, rows, scratch.masks);
    // forward: out += p * v   so: dp = d_out . v, dv += p * d_out
    DotTile(keys, v, shape_.value_width, v_stride_, scratch.d_out_t.get(), d_scores);
    ComputeGradients(keys, task, scratch);
    scratch.block.EndGrad(gradients_, place, begin, rows);
    if (task.collect == Collect::kTotals) return;
    SumOverQueries(keys, weights, place.queries, scratch.d_out.get(), v_stride_, shape_.value_width,
                   !scratch.d_out_finite, v_stride_, d_v);
    // forward: s = q . k   so: dq += ds * k, dk += ds * q
    SumOverKeys(keys, d_scores, place.queries, k, k_stride_, shape_.width, scratch.ones.get(), !scratch.keys_finite,
                k_stride_, scratch.d_q.get());
    SumOverQueries(keys, d_scores, place.queries, scratch.q.get(), k_stride_, shape_.width, !scratch.queries_finite,
                   k_stride_, d_k);
  }

  void ComputeGradients(const KeyRows& keys, const Task& task, Scratch& scratch) const {
    float* weights = scratch.weights.get();
    float* d_scores = scratch.d_scores.get();
    if constexpr (Rule::kNeedsTotals) {
      if (task.collect == Collect::kTotals) {
        return GradTile<Rule, typename Rule::TotalsWalk>(scoring_, keys, scratch.block, scratch.lanes, scratch.tile,
                                                         weights, d_scores);
      }
    }
    GradTile<Rule, typename Rule::GradWalk>(scoring_, keys, scratch.block, scratch.lanes, scratch.tile, weights,
                                            d_scores);
  }

  // Adds the gradients of the keys [begin, end) past the stop: only kept keys whose logit dropout set to 0 have weight
  // there, and they get gradients for v only.
  void AddTail(const TilePlace& place, size_t begin, size_t end, Scratch& scratch) const {
    for (size_t block = begin; block < end; block += kKeyBlock) {
      const size_t rows = std::min(kKeyBlock, end - block);
      const uint8_t* dropped = dropout_.Draw(place, block, rows, scratch.masks);
      const float* keys = scratch.keys.get() + (block - begin) * k_stride_;
      ForEachDroppedKept(dropped, rows, place.queries, scratch.q_t.get(), keys, shape_.width, k_stride_,
                         [&](size_t r, size_t lane) {
                           const float weight = std::exp2(-scratch.lanes.log2_sum[lane]);
                           const float* d_out = scratch.d_out.get() + lane * v_stride_;
                           float* d_v = scratch.d_values.get() + (block - begin + r) * v_stride_;
                           for (size_t c = 0; c < shape_.value_width; ++c) d_v[c] += weight * d_out[c];
                         });
    }
  }

  static constexpr size_t kCarried = Rule::GradTile::kCarried;

  const BackwardArgs<float>& args_;
  const AttentionShape& shape_;
  const Scoring scoring_;
  const DropoutDraws dropout_;
  const typename Rule::Call call_;
  const Norm norm_;
  const size_t k_stride_, v_stride_;
  const size_t past_;  // keys before the first query
  const ChunkPlan plan_;
  const size_t most_chunk_keys_;  // keys in the largest chunk
  std::vector<float> delta_;      // [batch, head, query]: see GradLanes
  std::vector<float> carried_;    // [batch, head, query][kCarried]: what the rule carries from phase to phase
  typename Rule::Gradients gradients_;
};

// Zeroes the gradients of keys that no query looked at.
inline void ZeroKeyGradients(const BackwardArgs<float>& args) {
  for (size_t b = 0; b < args.shape.batch; ++b) {
    for (size_t h = 0; h < args.shape.heads; ++h) {
      for (size_t j = 0; j < args.shape.keys; ++j) {
        std::fill_n(args.d_k(b, h, j), args.shape.width, 0.0f);
        std::fill_n(args.d_v(b, h, j), args.shape.value_width, 0.0f);
      }
    }
  }
}

template <class Rule>
void BackwardOfRule(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  Backward<Rule> backward(args, options);
  using Scratch = typename Backward<Rule>::Scratch;
  const AttentionShape& shape = args.shape;
  if (shape.AllQueries() == 0) {
    ZeroKeyGradients(args);
    return backward.StoreSharedGradients();
  }
  std::vector<std::unique_ptr<Scratch>> scratch(parallel.Workers());
  const auto collect = [&](Collect what) {
    std::vector<ChunkPlace> chunks = backward.ChunksOf(0);
    for (size_t phase = 0; !chunks.empty(); chunks = backward.ChunksOf(++phase)) {
      parallel.Run(shape.heads * chunks.size(), [&](size_t index, size_t worker) {
        if (scratch[worker] == nullptr) scratch[worker] = std::make_unique<Scratch>(backward);
        typename Backward<Rule>::Task task;
        task.collect = what;
        task.place = chunks[index / shape.heads];
        backward.ComputeChunk(index % shape.heads, task, *scratch[worker]);
      });
      backward.EndPhase(chunks);
    }
  };
  if constexpr (Rule::kNeedsTotals) collect(Collect::kTotals);
  collect(Collect::kAll);
  backward.StoreSharedGradients();
}

void BackwardOfTarget(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  DispatchRule(options.rule,
               [&](auto* rule) { BackwardOfRule<std::remove_pointer_t<decltype(rule)>>(args, options, parallel); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(BackwardOfTarget);

void RunBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(BackwardOfTarget)(args, options, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
