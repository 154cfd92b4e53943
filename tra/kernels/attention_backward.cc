// Backward pass. A head's triangle of (query, key) pairs is cut into square chunks, walked diagonal by diagonal: in one
// phase, chunk i of the queries meets chunk i - phase of the keys. No two tasks of a phase share a query or a key, so
// none needs an atomic or a private copy of dK; every row adds its parts in the same order whatever the threads do; and
// each query meets its keys from right to left, so its count of kept keys simply carries on from phase to phase.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention_check.h"
#include "tra/kernels/layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/attention_backward.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/own_grads-inl.h"
#include "tra/kernels/own_terms-inl.h"
#include "tra/kernels/philox-inl.h"
#include "tra/kernels/query_tile-inl.h"
#include "tra/kernels/score-inl.h"
#include "tra/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

static_assert(kKeyBlock % kTile == 0, "chunks must be made of the forward's tiles: they stopped together");

// Queries and keys to a chunk. Large chunks pack less often, small ones keep workers busy where heads are few; the
// number of workers has no say, or the result would depend on it.
inline size_t ChunkSize(const AttentionShape& shape) {
  const size_t blocks = shape.batch * shape.heads >= 8 ? 6 : 2;
  return kKeyBlock * std::clamp(DivideUp(shape.queries, kKeyBlock), size_t{1}, blocks);
}

// Scores reach the softmax in units of log2 while gradients do not: see GradTileImpl.
constexpr float kLn2 = 0.693147181f;

class Backward {
 public:
  Backward(const BackwardArgs<float>& args, const AttentionOptions& options)
      : args_(args),
        shape_(args.shape),
        options_(options),
        scoring_(args.shape, options),
        terms_(args.shape, options, args.own),
        norm_{options.qk_norm, options.norm_eps},
        drop_below_(scoring_.dropout == DropoutOn::kNone ? 0 : DropoutThreshold(options.dropout_p)),
        k_stride_(PackedStride(shape_.width)),
        v_stride_(PackedStride(shape_.value_width)),
        past_(shape_.keys - shape_.queries),
        table_stride_(TableStride(options, shape_)),
        chunk_(ChunkSize(shape_)),
        carried_(kCarried * shape_.batch * shape_.heads * shape_.queries),
        own_grads_(shape_, options, chunk_, QueryChunks()) {}

  // Buffers of one worker.
  struct Scratch {
    Floats keys, values;    // [chunk_][stride]
    Floats key_scales;      // [chunk_]
    Floats d_keys, d_vals;  // [chunk_][stride]
    Floats q, d_out;        // [kTile][stride]
    Floats q_t, d_out_t;    // [width][kTile]
    Floats d_q_t;           // [width][kTile]
    Floats weights;         // [kKeyBlock][kTile]: scores, then weights
    Floats d_scores;        // [kKeyBlock][kTile]: dP, then dS
    Floats bits;            // [kKeyBlock + kKeysPerPhilox][kTile], as uint32_t
    Floats lanes;           // TileLanes, then log2_sum and delta
    Floats ones;            // [kTile]
    Floats rows;            // [kTile][stride]
    Floats z_t, d_z_t;      // [table][kTile], kContextual; z_t: KeyRows::near, kForget
    Floats terms;           // [kKeyBlock], kForget
    Floats d_terms;         // [kKeyBlock][kLanes], kForget
    float* window;          // kDistance: see OwnGrads
    uint16_t list[kKeyBlock];
    bool keys_finite, values_finite;
  };

  size_t QueryChunks() const { return DivideUp(shape_.queries, chunk_); }
  size_t PastChunks() const { return DivideUp(past_, chunk_); }
  size_t Phases() const { return QueryChunks() + PastChunks(); }
  void EndPhase(size_t phase) { own_grads_.EndPhase(phase); }
  void StoreSharedGradients() const { own_grads_.Store(args_.d_own); }
  // kContextual needs a walk before the one for gradients: see ContextualRule.
  void SetTotalsOnly(bool totals_only) { totals_only_ = totals_only; }

  // Chunk `chunk` of the queries against the chunk of keys `phase` to the left of the diagonal.
  void Chunk(size_t batch, size_t head, size_t chunk, size_t phase, Scratch& scratch) {
    const ptrdiff_t key_chunk = static_cast<ptrdiff_t>(chunk) - static_cast<ptrdiff_t>(phase);
    if (key_chunk < -static_cast<ptrdiff_t>(PastChunks())) return;
    const ptrdiff_t start = static_cast<ptrdiff_t>(past_) + key_chunk * static_cast<ptrdiff_t>(chunk_);
    const size_t first_key = static_cast<size_t>(std::max<ptrdiff_t>(start, 0));
    const size_t last_key = std::min(static_cast<size_t>(start + static_cast<ptrdiff_t>(chunk_)), shape_.keys);
    const bool first_visit = key_chunk >= 0 ? phase == 0 : chunk == 0;
    const size_t first = chunk * chunk_;
    const size_t last = std::min(first + chunk_, shape_.queries);
    Prepare(scratch);
    scratch.window = own_grads_.Window(batch, head, chunk, phase);

    // Chunks that every tile stopped before are not visited at all, unless they must be zeroed.
    size_t reached = last_key;
    for (size_t i = first; i < last && !HasTail(); i += kTile) reached = std::min(reached, FirstKey(batch, head, i));
    const bool visit = HasTail() || reached < last_key;
    if (visit || first_visit || phase == 0)
      Visit(batch, head, first, last, first_key, last_key, visit, first_visit, phase, scratch);
    if (!norm_.on || totals_only_) return;
    // Rows whose gradient is now complete go back through QK-norm while they are in the cache.
    if (chunk + 1 == QueryChunks()) {
      for (size_t j = first_key; j < last_key; ++j) NormBackward(args_.k(batch, head, j), args_.d_k(batch, head, j));
    }
    if (key_chunk == -static_cast<ptrdiff_t>(PastChunks())) {
      for (size_t i = first; i < last; ++i) NormBackward(args_.q(batch, head, i), args_.d_q(batch, head, i));
    }
  }

 private:
  void Visit(size_t batch, size_t head, size_t first, size_t last, size_t first_key, size_t last_key, bool visit,
             bool first_visit, size_t phase, Scratch& scratch) {
    std::memset(scratch.d_keys.get(), 0, chunk_ * k_stride_ * sizeof(float));
    std::memset(scratch.d_vals.get(), 0, chunk_ * v_stride_ * sizeof(float));
    if (visit) {
      scratch.keys_finite = PackRows(OfHead(args_.k, batch, head), first_key, last_key, shape_.width, k_stride_, norm_,
                                     scratch.keys.get(), scratch.key_scales.get());
      scratch.values_finite = PackRows(OfHead(args_.v, batch, head), first_key, last_key, shape_.value_width, v_stride_,
                                       Norm(), scratch.values.get(), nullptr);
    }
    for (size_t i = first; i < last; i += kTile) Tile(batch, head, i, last, first_key, last_key, phase == 0, scratch);
    if (totals_only_) return;
    for (size_t j = first_key; j < last_key; ++j) {
      AddRow(scratch.d_keys.get() + (j - first_key) * k_stride_, shape_.width, kLn2, first_visit,
             args_.d_k(batch, head, j));
      AddRow(scratch.d_vals.get() + (j - first_key) * v_stride_, shape_.value_width, 1.0f, first_visit,
             args_.d_v(batch, head, j));
    }
  }

  void NormBackward(const float* HWY_RESTRICT x, float* HWY_RESTRICT d_x) const {
    const float r = NormScale(x, shape_.width, norm_);
    // forward: y = x * r   so: dx = dy * r - x * r^2 * mean(x * dy * r); d_x is dy * r already
    const float along = -r * r * DotRows(x, d_x, shape_.width) / static_cast<float>(shape_.width);
    for (size_t c = 0; c < shape_.width; ++c) d_x[c] += x[c] * along;
  }

  bool HasTail() const { return scoring_.dropout == DropoutOn::kLogits && scoring_.stop_eps != kStopNever; }

  size_t At(size_t batch, size_t head, size_t query) const {
    return (batch * shape_.heads + head) * shape_.queries + query;
  }
  size_t FirstKey(size_t batch, size_t head, size_t query) const {
    return static_cast<size_t>(args_.first_key[At(batch, head, query)]);
  }
  // What a query carries from phase to phase.
  enum Carried : uint8_t { kCount, kDelta, kSeen, kTotal, kCarried };
  float& Carry(Carried what, size_t batch, size_t head, size_t query) {
    return carried_[what * shape_.batch * shape_.heads * shape_.queries + At(batch, head, query)];
  }

  void Prepare(Scratch& scratch) const {
    if (scratch.keys != nullptr) return;
    scratch.key_scales = AllocateFloats(chunk_);
    // DotTile rounds its rows up, from any start.
    scratch.keys = AllocateFloats((chunk_ + kDotRows) * k_stride_);
    scratch.values = AllocateFloats((chunk_ + kDotRows) * v_stride_);
    scratch.d_keys = AllocateFloats(chunk_ * k_stride_);
    scratch.d_vals = AllocateFloats(chunk_ * v_stride_);
    scratch.q = AllocateFloats(kTileRows * k_stride_);
    scratch.d_out = AllocateFloats(kTileRows * v_stride_);
    scratch.q_t = AllocateFloats(k_stride_ * kTile);
    scratch.d_out_t = AllocateFloats(v_stride_ * kTile);
    scratch.d_q_t = AllocateFloats(k_stride_ * kTile);
    scratch.weights = AllocateFloats(kKeyBlock * kTile);
    scratch.d_scores = AllocateFloats(kKeyBlock * kTile);
    scratch.bits = AllocateFloats((kKeyBlock + kKeysPerPhilox) * kTile);
    scratch.lanes = AllocateFloats((TileLanes::kArrays + 2) * kTile);
    scratch.ones = AllocateFloats(kTile);
    scratch.rows = AllocateFloats(kTileRows * std::max(k_stride_, table_stride_));
    if (options_.rule == ScoreRule::kContextual) {
      scratch.z_t = AllocateFloats(RoundUp(shape_.table, 4) * kTile);
      scratch.d_z_t = AllocateFloats(RoundUp(shape_.table, 4) * kTile);
    }
    if (options_.rule == ScoreRule::kForget) {
      scratch.z_t = AllocateFloats(kTile * kTile);
      scratch.terms = AllocateFloats(kKeyBlock);
      scratch.d_terms = AllocateFloats(kKeyBlock * kLanes);
    }
    std::fill_n(scratch.ones.get(), kTile, 1.0f);
    std::memset(scratch.lanes.get(), 0, (TileLanes::kArrays + 2) * kTile * sizeof(float));
  }

  static void AddRow(const float* HWY_RESTRICT from, size_t width, float scale, bool overwrite,
                     float* HWY_RESTRICT to) {
    if (overwrite) {
      for (size_t c = 0; c < width; ++c) to[c] = from[c] * scale;
    } else {
      for (size_t c = 0; c < width; ++c) to[c] += from[c] * scale;
    }
  }

  // Up to kTile queries from `first` against the packed keys [first_key, last_key).
  void Tile(size_t batch, size_t head, size_t first, size_t last, size_t first_key, size_t last_key, bool first_visit,
            Scratch& scratch) {
    const size_t queries = std::min(kTile, last - first);
    const size_t first_position = past_ + first;
    const size_t stop = FirstKey(batch, head, first);
    const size_t visible = std::min(last_key, first_position + queries);
    const size_t reached = std::max(first_key, stop);
    const bool has_tail = HasTail() && stop > first_key;
    if (reached >= visible && !has_tail && !first_visit) return;

    const TileLanes lanes = TileLanes::At(scratch.lanes.get());
    float* log2_sum = scratch.lanes.get() + TileLanes::kArrays * kTile;
    float* delta = log2_sum + kTile;
    const bool queries_finite = PackQueries(OfHead(args_.q, batch, head), first, queries, shape_.width, k_stride_,
                                            norm_, scratch.q.get(), scratch.q_t.get(), lanes.scale2);
    ScaleToLog2(scoring_, queries, lanes);
    const bool d_out_finite = PackQueries(OfHead(args_.d_out, batch, head), first, queries, shape_.value_width,
                                          v_stride_, Norm(), scratch.d_out.get(), scratch.d_out_t.get(), nullptr);
    LoadGates(args_.own, batch, head, first, queries, options_.rule, lanes);
    if (options_.rule == ScoreRule::kForget) {
      terms_.Tile(batch, head, first_position, queries, lanes.gate2, scratch.z_t.get());
    }
    const bool contextual = options_.rule == ScoreRule::kContextual;
    if (contextual) {
      LoadPositions(OfHead(args_.own, batch, head), first, queries, shape_.table, scratch.rows.get(),
                    scratch.z_t.get());
      std::memset(scratch.d_z_t.get(), 0, RoundUp(shape_.table, 4) * kTile * sizeof(float));
    }
    for (size_t lane = 0; lane < kTile; ++lane) {
      const bool used = lane < queries;
      if (used && first_visit) {
        Carry(kCount, batch, head, first + lane) = scoring_.first_count;
        Carry(kDelta, batch, head, first + lane) =
            DotRows(args_.d_out(batch, head, first + lane), args_.out(batch, head, first + lane), shape_.value_width);
        Carry(kSeen, batch, head, first + lane) = 0.0f;
      }
      const auto carried = [&](Carried what) { return used ? Carry(what, batch, head, first + lane) : 0.0f; };
      lanes.count[lane] = carried(kCount);
      lanes.d_gate[lane] = contextual ? carried(kSeen) : 0.0f;
      lanes.total[lane] = carried(kTotal);
      delta[lane] = carried(kDelta);
      // An absent query has no weight anywhere.
      log2_sum[lane] = used ? args_.log2_sum[At(batch, head, first + lane)] : std::numeric_limits<float>::infinity();
    }
    std::memset(scratch.d_q_t.get(), 0, k_stride_ * kTile * sizeof(float));

    // Blocks start where the chunk does: the weights do not depend on how keys are blocked, nor does the mask.
    for (size_t end = visible; end > reached;) {
      const size_t begin = std::max(first_key + (end - 1 - first_key) / kKeyBlock * kKeyBlock, reached);
      Block(batch, head, begin, end, first_key, first_position, queries, queries_finite, d_out_finite, scratch);
      end = begin;
    }
    if (has_tail) Tail(batch, head, first_key, std::min(stop, last_key), first_position, queries, scratch);

    for (size_t lane = 0; lane < queries; ++lane) {
      Carry(kCount, batch, head, first + lane) = lanes.count[lane];
      Carry(totals_only_ ? kTotal : kSeen, batch, head, first + lane) = lanes.d_gate[lane];
      if (totals_only_) Carry(kSeen, batch, head, first + lane) = lanes.d_gate[lane];
    }
    if (totals_only_) return;
    TransposeBack(scratch.d_q_t.get(), scratch.ones.get(), shape_.width, k_stride_, scratch.rows.get());
    for (size_t lane = 0; lane < queries; ++lane) {
      AddRow(scratch.rows.get() + lane * k_stride_, shape_.width, kLn2, first_visit,
             args_.d_q(batch, head, first + lane));
      if (options_.rule == ScoreRule::kThreshold) {
        AddRow(lanes.d_gate + lane, 1, 1.0f, first_visit, args_.d_own(batch, head, first + lane));
      }
    }
    if (!contextual) return;
    TransposeBack(scratch.d_z_t.get(), scratch.ones.get(), shape_.table, table_stride_, scratch.rows.get());
    for (size_t lane = 0; lane < queries; ++lane) {
      AddRow(scratch.rows.get() + lane * table_stride_, shape_.table, 1.0f, first_visit,
             args_.d_own(batch, head, first + lane));
    }
  }

  // Keys [begin, end) of the chunk that starts at chunk_key.
  void Block(size_t batch, size_t head, size_t begin, size_t end, size_t chunk_key, size_t first_position,
             size_t queries, bool queries_finite, bool d_out_finite, Scratch& scratch) {
    const size_t rows = end - begin;
    const float* k = scratch.keys.get() + (begin - chunk_key) * k_stride_;
    const float* v = scratch.values.get() + (begin - chunk_key) * v_stride_;
    float* d_k = scratch.d_keys.get() + (begin - chunk_key) * k_stride_;
    float* d_v = scratch.d_vals.get() + (begin - chunk_key) * v_stride_;
    float* weights = scratch.weights.get();
    float* d_scores = scratch.d_scores.get();

    DotTile(k, nullptr, rows, shape_.width, k_stride_, scratch.q_t.get(), weights);
    KeyRows keys{begin,
                 rows,
                 nullptr,
                 static_cast<ptrdiff_t>(first_position),
                 nullptr,
                 drop_below_,
                 norm_.on ? scratch.key_scales.get() + (begin - chunk_key) : nullptr,
                 terms_.Block(batch, head, begin, rows, first_position, scratch.terms.get()),
                 scratch.z_t.get(),
                 nullptr,
                 shape_.table};
    if (options_.rule == ScoreRule::kContextual) {
      keys.terms = scratch.z_t.get();
      keys.d_terms = scratch.d_z_t.get();
    } else if (options_.rule == ScoreRule::kDistance) {
      keys.d_terms = scratch.window + first_position - begin;
    } else if (options_.rule == ScoreRule::kForget) {
      keys.d_terms = scratch.d_terms.get();
      std::memset(keys.d_terms, 0, rows * kLanes * sizeof(float));
    }
    if (options_.rule == ScoreRule::kThreshold) {
      keys.rows = LiveRows(weights, rows, scratch.list);
      if (keys.rows == 0) return;
      if (4 * keys.rows < 3 * rows) {
        CompactRows(scratch.list, keys.rows, weights);
        keys.list = scratch.list;
      } else {
        keys.rows = rows;
      }
    }
    keys.bits = DrawDropout(batch, head, begin, rows, first_position, scratch);
    // forward: out += p * v   so: dp = d_out . v, dv += p * d_out
    DotTile(v, keys.list, keys.rows, shape_.value_width, v_stride_, scratch.d_out_t.get(), d_scores);
    Grad(keys, scratch);
    if (options_.rule == ScoreRule::kForget) own_grads_.AddKeys(batch, head, begin, rows, keys.d_terms);
    if (totals_only_) return;
    OuterTile(weights, keys.rows, queries, scratch.d_out.get(), v_stride_, keys.list, shape_.value_width, v_stride_,
              !d_out_finite, d_v);
    // forward: s = q . k   so: dq += ds * k, dk += ds * q
    AccumulateTile(k, keys.list, keys.rows, shape_.width, k_stride_, d_scores, scratch.ones.get(), !scratch.keys_finite,
                   scratch.d_q_t.get());
    OuterTile(d_scores, keys.rows, queries, scratch.q.get(), k_stride_, keys.list, shape_.width, k_stride_,
              !queries_finite, d_k);
  }

  void Grad(const KeyRows& keys, Scratch& scratch) const {
    const TileLanes lanes = TileLanes::At(scratch.lanes.get());
    const float* log2_sum = scratch.lanes.get() + TileLanes::kArrays * kTile;
    const float* delta = log2_sum + kTile;
    float* weights = scratch.weights.get();
    float* d_scores = scratch.d_scores.get();
    const auto with = [&](auto* rule) HWY_ATTR {
      using Rule = std::remove_pointer_t<decltype(rule)>;
      if constexpr (Rule::kBounded) {
        if (scoring_.dropout == DropoutOn::kLogits) {
          return GradTileImpl<Rule, DropoutOn::kLogits>(scoring_, keys, lanes, log2_sum, delta, weights, d_scores);
        }
      }
      if (scoring_.dropout == DropoutOn::kNone) {
        return GradTileImpl<Rule, DropoutOn::kNone>(scoring_, keys, lanes, log2_sum, delta, weights, d_scores);
      }
      GradTileImpl<Rule, DropoutOn::kWeights>(scoring_, keys, lanes, log2_sum, delta, weights, d_scores);
    };
    if (totals_only_) return with(static_cast<ContextualRule<true>*>(nullptr));
    DispatchRule(options_.rule, with);
  }

  // Bits of keys [begin, begin + rows), which need not start where a Philox call does.
  const uint32_t* DrawDropout(size_t batch, size_t head, size_t begin, size_t rows, size_t first_position,
                              Scratch& scratch) const {
    if (drop_below_ == 0) return nullptr;
    auto* bits = reinterpret_cast<uint32_t*>(scratch.bits.get());
    const size_t aligned = begin / kKeysPerPhilox * kKeysPerPhilox;
    DropoutBitsTile(SequenceSeed(options_.seed, options_.numbers, batch), head, first_position, aligned,
                    begin + rows - aligned, bits);
    return bits + (begin - aligned) * kTile;
  }

  // Keys [begin, end) past the stop: the kept ones whose logit was dropped to 0 have weight, and gradients for v only.
  void Tail(size_t batch, size_t head, size_t begin, size_t end, size_t first_position, size_t queries,
            Scratch& scratch) const {
    const float* log2_sum = scratch.lanes.get() + TileLanes::kArrays * kTile;
    for (size_t block = begin; block < end; block += kKeyBlock) {
      const size_t rows = std::min(kKeyBlock, end - block);
      const uint32_t* bits = DrawDropout(batch, head, block, rows, first_position, scratch);
      const float* keys = scratch.keys.get() + (block - begin) * k_stride_;
      ForEachDroppedKept(bits, drop_below_, rows, queries, scratch.q_t.get(), keys, shape_.width, k_stride_,
                         [&](size_t r, size_t lane) {
                           const float weight = std::exp2(-log2_sum[lane]);
                           const float* d_out = scratch.d_out.get() + lane * v_stride_;
                           float* d_v = scratch.d_vals.get() + (block - begin + r) * v_stride_;
                           for (size_t c = 0; c < shape_.value_width; ++c) d_v[c] += weight * d_out[c];
                         });
    }
  }

  const BackwardArgs<float>& args_;
  const AttentionShape& shape_;
  const AttentionOptions& options_;
  const Scoring scoring_;
  const OwnTerms terms_;
  const Norm norm_;
  const uint32_t drop_below_;
  const size_t k_stride_, v_stride_;
  const size_t past_;  // keys before the first query
  const size_t table_stride_;
  const size_t chunk_;          // queries, and keys, to a chunk
  std::vector<float> carried_;  // [kCarried][batch, head, query]
  OwnGrads own_grads_;
  bool totals_only_ = false;
};

// Keys that no query looked at.
void ZeroKeyGradients(const BackwardArgs<float>& args) {
  for (size_t b = 0; b < args.shape.batch; ++b) {
    for (size_t h = 0; h < args.shape.heads; ++h) {
      for (size_t j = 0; j < args.shape.keys; ++j) {
        std::fill_n(args.d_k(b, h, j), args.shape.width, 0.0f);
        std::fill_n(args.d_v(b, h, j), args.shape.value_width, 0.0f);
      }
    }
  }
}

void RunBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  Backward backward(args, options);
  const AttentionShape& shape = args.shape;
  const size_t heads = shape.batch * shape.heads;
  if (shape.queries == 0) {
    ZeroKeyGradients(args);
    return backward.StoreSharedGradients();
  }
  std::vector<Backward::Scratch> scratch(parallel.Workers());
  const auto walk = [&] {
    for (size_t phase = 0; phase < backward.Phases(); ++phase) {
      // Chunk i has i + PastChunks() chunks of keys to its left.
      const size_t past = backward.PastChunks();
      const size_t first_chunk = phase > past ? phase - past : 0;
      const size_t chunks = backward.QueryChunks() - first_chunk;
      parallel.Run(heads * chunks, [&](size_t task, size_t worker) {
        const size_t head = task % heads;
        backward.Chunk(head / shape.heads, head % shape.heads, first_chunk + task / heads, phase, scratch[worker]);
      });
      backward.EndPhase(phase);
    }
  };
  if (options.rule == ScoreRule::kContextual) {
    backward.SetTotalsOnly(true);
    walk();
    backward.SetTotalsOnly(false);
  }
  walk();
  backward.StoreSharedGradients();
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(RunBackward);

void AttentionBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  CheckProblem(args.shape, options);
  if (args.shape.batch * args.shape.heads * args.shape.keys == 0) {
    // No sequence, no gradient; but the table is there.
    for (size_t head = 0; head < args.shape.heads && options.rule == ScoreRule::kDistance; ++head) {
      for (size_t d = 0; d < args.shape.table; ++d) *args.d_own(0, head, d) = 0.0f;
    }
    return;
  }
  HWY_DYNAMIC_DISPATCH(RunBackward)(args, options, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
