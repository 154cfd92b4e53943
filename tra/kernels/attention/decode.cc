// Computes decode: a few queries against a long cache. Memory is the bottleneck, so the lanes hold channels and each
// key is read once. A head's keys are cut into segments, counted from the right; each gives a partial result that
// counts its kept keys from 0, and partial results are joined from right to left until the rest is negligible
// (docs/kernels.md, "Joining"). Within a segment keys are read in ascending order, which hardware prefetches best.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/attention/decode.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/attention/packing-inl.h"
#include "tra/kernels/attention/rules-inl.h"
#include "tra/kernels/attention/stop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

constexpr size_t kDecodeBlock = 256;  // keys scored at a time
constexpr size_t kDecodeKeys = 4;     // keys scored, and values added, together in registers

// Segments depend on the number of keys alone, because the result must not depend on the number of workers. The nearest
// ones are short, so that strong gates stop early; the others are long enough to be read fast.
constexpr size_t kFirstSegment = 128, kLargestSegment = 1024;

// Returns how many keys, from the right, the segments up to and including this one hold.
constexpr size_t SegmentReach(size_t segment) {
  return segment <= 3 ? kFirstSegment << segment : kLargestSegment * (segment - 2);
}
static_assert(SegmentReach(3) == kLargestSegment, "segments double up to the largest");

// Holds the softmax sums over some keys of one query, where the nearest kept key has count 0.
struct Partial {
  float count = 0.0f;  // number of kept keys
  float max_log2 = kLowest;
  float sum = 0.0f;
  Floats out;  // [stride], the sum of weight * value
};

// Holds the kept keys of a block, nearest first, whose values are still being fetched from memory.
struct Pending {
  size_t n = 0;
  float decay = 1.0f;  // what the sums of all keys to the left of the block are multiplied by
  const float* value[kDecodeBlock];
  HWY_ALIGN float weight[kDecodeBlock];
};

template <class Rule>
class Decode {
 public:
  Decode(const ForwardArgs<float>& args, const AttentionOptions& options)
      : args_(args),
        shape_(args.shape),
        options_(options),
        scoring_(args.shape, options),
        stop_(scoring_),
        call_(args.shape, args.rule_input),
        // Without QK-norm a bound on the scores would cost a pass over all keys, which is what stopping should save.
        may_stop_(options.qk_norm && scoring_.stop_eps != kStopNever),
        k_stride_(PackedStride(shape_.width)),
        v_stride_(PackedStride(shape_.value_width)) {}

  size_t Segments() const {
    size_t segments = 1;
    while (SegmentReach(segments - 1) < shape_.keys) ++segments;
    return segments;
  }
  bool MayStop() const { return may_stop_; }

  Partial MakeEmpty() const {
    Partial partial;
    partial.out = AllocateFloats(v_stride_);
    std::memset(partial.out.get(), 0, v_stride_ * sizeof(float));
    return partial;
  }

  // Joins partial results of one head, segment after segment, until the rest is negligible to every query.
  class Joined {
   public:
    Joined(const Decode& decode, size_t batch, size_t head) : decode_(decode), batch_(batch), head_(head) {
      for (size_t i = 0; i < decode.shape_.queries; ++i) {
        partials_.push_back(decode.MakeEmpty());
        gate_log2_.push_back(decode.call_.GateLog2(batch, head, i));
      }
      done_.assign(decode.shape_.queries, false);
    }

    void Add(size_t segment, const std::vector<Partial>& parts) {
      const size_t begin = decode_.SegmentBegin(segment);
      for (size_t i = 0; i < partials_.size(); ++i) {
        if (done_[i]) continue;
        decode_.Join(parts[i], gate_log2_[i], partials_[i]);
        done_[i] = begin == 0 || decode_.IsNegligible(partials_[i], gate_log2_[i], begin);
      }
    }

    bool Done() const {
      return std::all_of(done_.begin(), done_.end(), [](bool done) { return done; });
    }

    void Store() const {
      for (size_t i = 0; i < partials_.size(); ++i) {
        const Partial& partial = partials_[i];
        const float scale = partial.sum == 0.0f ? 0.0f : 1.0f / partial.sum;
        float* out = decode_.args_.out(batch_, head_, i);
        for (size_t c = 0; c < decode_.shape_.value_width; ++c) out[c] = partial.out[c] * scale;
      }
    }

   private:
    const Decode& decode_;
    size_t batch_, head_;
    std::vector<Partial> partials_;  // one per query
    std::vector<float> gate_log2_;
    std::vector<bool> done_;
  };

  // Computes the partial results of one segment for every query.
  std::vector<Partial> ComputeSegment(size_t batch, size_t head, size_t segment) const {
    const size_t begin = SegmentBegin(segment);
    const size_t end = segment == 0 ? shape_.keys : SegmentBegin(segment - 1);
    const size_t past = shape_.keys - shape_.queries;
    const HeadRows<const float> k = OfHead(args_.k, batch, head), v = OfHead(args_.v, batch, head);
    const Norm norm{options_.qk_norm, options_.norm_eps};
    const Floats q = AllocateFloats(RoundUp(shape_.queries, kDotRows) * k_stride_);
    const Floats to_log2 = AllocateFloats(RoundUp(shape_.queries, kLanes));  // see SoftmaxLanes
    PackRows(OfHead(args_.q, batch, head), 0, shape_.queries, shape_.width, k_stride_, norm, q.get(), to_log2.get());
    std::vector<Partial> parts;
    for (size_t i = 0; i < shape_.queries; ++i) {
      to_log2[i] *= scoring_.to_log2;
      parts.push_back(MakeEmpty());
      if (scoring_.bounded) parts.back().max_log2 = scoring_.bound_log2;
    }
    std::vector<Pending> pending(shape_.queries);
    HWY_ALIGN float dots[kDecodeBlock];
    HWY_ALIGN float squares[kDecodeBlock];
    HWY_ALIGN float terms[kDecodeBlock];
    for (size_t block = begin; block < end; block += kDecodeBlock) {
      const size_t block_end = std::min(block + kDecodeBlock, end);
      bool have_squares = !options_.qk_norm;
      for (size_t i = 0; i < shape_.queries; ++i) {
        const size_t visible = std::min(block_end, past + i + 1);
        if (visible <= block) continue;
        Score(k, block, block_end, q.get() + i * k_stride_, pending[i], dots, have_squares ? nullptr : squares);
        have_squares = true;
        // As in PackRows, a key too large to normalise is NaN to every query, so that the error shows.
        for (size_t r = 0; r < block_end - block && options_.qk_norm; ++r) {
          if (!(squares[r] < std::numeric_limits<float>::infinity())) dots[r] = std::numeric_limits<float>::quiet_NaN();
        }
        AddValues(pending[i], parts[i]);  // those of the block before, prefetched by Score
        for (size_t r = 0; r < visible - block && Rule::kPairTerms; ++r) {
          terms[r] = call_.PairTerm(batch, head, past + i, block + r);
        }
        Weigh(v, block, visible - block, call_.GateLog2(batch, head, i), to_log2[i], dots, squares, terms, parts[i],
              pending[i]);
      }
    }
    for (size_t i = 0; i < shape_.queries; ++i) AddValues(pending[i], parts[i]);
    return parts;
  }

 private:
  size_t SegmentBegin(size_t segment) const {
    const size_t reach = SegmentReach(segment);
    return shape_.keys > reach ? shape_.keys - reach : 0;
  }

  // Sets dots[r] = q . k for the keys [begin, end), and squares[r] = k . k where wanted. Meanwhile prefetches the
  // values pending from the block before, a few at a time, so that the keys need not wait behind them.
  void Score(const HeadRows<const float>& k, size_t begin, size_t end, const float* HWY_RESTRICT q,
             const Pending& pending, float* HWY_RESTRICT dots, float* HWY_RESTRICT squares) const {
    size_t key = begin, asked = 0;
    const size_t ask = DivideUp(pending.n, kDecodeBlock / kDecodeKeys);
    for (; key + kDecodeKeys <= end; key += kDecodeKeys) {
      for (const size_t last = std::min(asked + ask, pending.n); asked < last; ++asked) {
        PrefetchRow(pending.value[asked], shape_.value_width);
      }
      ScoreKeys<kDecodeKeys>(k, key, q, dots + (key - begin), squares, key - begin);
    }
    for (; key < end; ++key) ScoreKeys<1>(k, key, q, dots + (key - begin), squares, key - begin);
  }

  template <size_t kKeys>
  HWY_INLINE void ScoreKeys(const HeadRows<const float>& k, size_t key, const float* HWY_RESTRICT q,
                            float* HWY_RESTRICT dots, float* squares, size_t r) const {
    if (squares != nullptr) return ScoreKeysImpl<kKeys, true>(k, key, q, dots, squares + r);
    ScoreKeysImpl<kKeys, false>(k, key, q, dots, nullptr);
  }

  template <size_t kKeys, bool kSquares>
  HWY_INLINE void ScoreKeysImpl(const HeadRows<const float>& k, size_t key, const float* HWY_RESTRICT q,
                                float* HWY_RESTRICT dots, float* HWY_RESTRICT squares) const {
    const DF df;
    const float* row[kKeys];
    VF dot[kKeys], square[kKeys];
    for (size_t i = 0; i < kKeys; ++i) {
      row[i] = k(key + i);
      dot[i] = square[i] = hn::Zero(df);
    }
    const size_t whole = shape_.width / kLanes * kLanes;
    for (size_t c = 0; c < whole; c += kLanes) {
      const VF x = hn::Load(df, q + c);
#pragma GCC unroll 8
      for (size_t i = 0; i < kKeys; ++i) {
        const VF k_row = hn::LoadU(df, row[i] + c);
        dot[i] = hn::MulAdd(k_row, x, dot[i]);
        if (kSquares) square[i] = hn::MulAdd(k_row, k_row, square[i]);
      }
    }
    SumEach<kKeys>(dot, dots);
    if (kSquares) SumEach<kKeys>(square, squares);
    for (size_t i = 0; i < kKeys && whole < shape_.width; ++i) {
      for (size_t c = whole; c < shape_.width; ++c) {
        dots[i] += q[c] * row[i][c];
        if (kSquares) squares[i] += row[i][c] * row[i][c];
      }
    }
  }

  // Sets to[i] to the sum of v[i]'s lanes.
  template <size_t kKeys>
  static HWY_INLINE void SumEach(const VF* v, float* HWY_RESTRICT to) {
    const DF df;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (kKeys == 4) {
      const hn::Repartition<double, DF> pairs;
      const auto join = [&](VF a, VF b) HWY_ATTR {  // adds the halves of each block of 4: a b a b
        return hn::Add(hn::InterleaveLower(df, a, b), hn::InterleaveUpper(df, a, b));
      };
      const auto low = hn::BitCast(pairs, join(v[0], v[1])), high = hn::BitCast(pairs, join(v[2], v[3]));
      return SumBlocks(df,
                       hn::Add(hn::BitCast(df, hn::InterleaveLower(pairs, low, high)),
                               hn::BitCast(df, hn::InterleaveUpper(pairs, low, high))),
                       to);
    }
#endif
    for (size_t i = 0; i < kKeys; ++i) to[i] = hn::GetLane(hn::SumOfLanes(df, v[i]));
  }

#if HWY_TARGET != HWY_SCALAR
  template <class D>
  static HWY_INLINE void SumBlocks(D d, hn::Vec<D> v, float* HWY_RESTRICT to) {
    if constexpr (hn::MaxLanes(D()) <= 4) {
      hn::StoreU(v, d, to);
    } else {
      const hn::Half<D> half;
      SumBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), to);
    }
  }
#endif

  // Extends a partial result to the right by the keys [first_key, first_key + rows): adds their weights at once and
  // leaves their values pending.
  void Weigh(const HeadRows<const float>& v, size_t first_key, size_t rows, float gate_log2, float to_log2,
             const float* HWY_RESTRICT dots, const float* HWY_RESTRICT squares, const float* HWY_RESTRICT terms,
             Partial& partial, Pending& pending) const {
    const DF df;
    // Kept keys, nearest first: their counts are then 0, 1, 2, ...
    float* HWY_RESTRICT y = pending.weight;
    HWY_ALIGN float lengths[kDecodeBlock];
    HWY_ALIGN float pair_terms[kDecodeBlock];
    size_t n = 0;
    for (size_t r = rows; r-- > 0;) {
      pending.value[n] = v(first_key + r);
      y[n] = dots[r];
      if (options_.qk_norm) lengths[n] = squares[r];
      if constexpr (Rule::kPairTerms) pair_terms[n] = terms[r];
      n += !Rule::kInfo.drops_keys || !(dots[r] <= 0.0f) ? 1 : 0;
    }
    pending.n = n;
    if (n == 0) return;
    const size_t padded = RoundUp(n, kLanes);
    for (size_t i = n; i < padded; ++i) y[i] = lengths[i] = pair_terms[i] = 1.0f;
    const VF scale = hn::Set(df, to_log2);
    const VF mean = hn::Set(df, 1.0f / static_cast<float>(shape_.width));
    const VF norm_eps = hn::Set(df, options_.norm_eps);
    const VF gate = hn::Set(df, gate_log2);
    const VF minus_inf = hn::Set(df, -std::numeric_limits<float>::infinity());
    VF max = hn::Set(df, kLowest);
    for (size_t i = 0; i < padded; i += kLanes) {
      VF s = hn::Mul(hn::Load(df, y + i), scale);
      if (options_.qk_norm) s = hn::Div(s, hn::Sqrt(hn::MulAdd(hn::Load(df, lengths + i), mean, norm_eps)));
      if constexpr (Rule::kPairTerms) s = hn::Add(s, hn::Load(df, pair_terms + i));
      const VF index = CountFrom(df, static_cast<float>(i));
      const MF absent = hn::Ge(index, hn::Set(df, static_cast<float>(n)));
      const VF logit = hn::IfThenElse(absent, minus_inf, hn::MulAdd(index, gate, s));
      max = hn::Max(max, logit);
      hn::Store(logit, df, y + i);
    }
    const float left_max = partial.max_log2 + static_cast<float>(n) * gate_log2;
    if (!scoring_.bounded) {
      const float block_max = hn::GetLane(hn::MaxOfLanes(df, max));
      partial.max_log2 = block_max >= left_max ? block_max : left_max;
    }
    pending.decay = std::exp2(left_max - partial.max_log2);
    VF sum = hn::Zero(df);
    for (size_t i = 0; i < padded; i += kLanes) {
      const VF p = Exp2(hn::Sub(hn::Load(df, y + i), hn::Set(df, partial.max_log2)));
      sum = hn::Add(sum, p);
      hn::Store(p, df, y + i);
    }
    partial.sum = partial.sum * pending.decay + hn::GetLane(hn::SumOfLanes(df, sum));
    partial.count += static_cast<float>(n);
  }

  void AddValues(Pending& pending, Partial& partial) const {
    if (pending.n == 0) return;
    // A key of weight 0 is too far away to matter and is left out, because its value might be Inf. Within a block
    // weights need not fall with distance, so zeros may be anywhere.
    size_t n = 0;
    for (size_t i = 0; i < pending.n; ++i) {
      pending.value[n] = pending.value[i];
      pending.weight[n] = pending.weight[i];
      n += pending.weight[i] == 0.0f ? 0 : 1;
    }
    pending.n = 0;
    float* out = partial.out.get();
    if (pending.decay != 1.0f) {
      for (size_t c = 0; c < shape_.value_width; ++c) out[c] *= pending.decay;
    }
    size_t i = 0;
    for (; i + kDecodeKeys <= n; i += kDecodeKeys) AddRows<kDecodeKeys>(pending, i, out);
    for (; i < n; ++i) AddRows<1>(pending, i, out);
  }

  template <size_t kRows>
  HWY_INLINE void AddRows(const Pending& pending, size_t first, float* HWY_RESTRICT out) const {
    const DF df;
    const float* row[kRows];
    const float* weights = pending.weight + first;
    VF weight[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      row[i] = pending.value[first + i];
      weight[i] = hn::Set(df, weights[i]);
    }
    size_t c = 0;
    for (; c + kLanes <= shape_.value_width; c += kLanes) {
      VF sum = hn::Load(df, out + c);
#pragma GCC unroll 8
      for (size_t i = 0; i < kRows; ++i) sum = hn::MulAdd(weight[i], hn::LoadU(df, row[i] + c), sum);
      hn::Store(sum, df, out + c);
    }
    for (; c < shape_.value_width; ++c) {
      for (size_t i = 0; i < kRows; ++i) out[c] += weights[i] * row[i][c];
    }
  }

  void Shrink(float by, Partial& partial) const {
    partial.sum *= by;
    for (size_t c = 0; c < shape_.value_width; ++c) partial.out[c] *= by;
  }

  // Adds `left` to `right`, in place: every key of `left` is right.count kept keys further away than its own count
  // says.
  void Join(const Partial& left, float gate_log2, Partial& right) const {
    if (left.count == 0.0f) return;
    const float left_max = left.max_log2 + right.count * gate_log2;
    if (right.count == 0.0f || left_max > right.max_log2) {
      Shrink(right.count == 0.0f ? 1.0f : std::exp2(right.max_log2 - left_max), right);
      right.max_log2 = left_max;
    }
    right.count += left.count;
    if (left_max - right.max_log2 < kZeroBelowLog2) return;  // negligible, as in Exp2
    const float by = std::exp2(left_max - right.max_log2);
    right.sum += by * left.sum;
    for (size_t c = 0; c < shape_.value_width; ++c) right.out[c] += by * left.out[c];
  }

  // Returns whether the unseen keys are negligible to one query.
  bool IsNegligible(const Partial& partial, float gate_log2, size_t keys_left) const {
    if (keys_left == 0) return true;
    if (!may_stop_) return false;
    const hn::CappedTag<float, 1> d1;
    const float relative_log2 = scoring_.bound_log2 + partial.count * gate_log2 - partial.max_log2;
    return hn::AllTrue(d1, stop_.Negligible(d1, hn::Set(d1, relative_log2), hn::Set(d1, GeometricSum(gate_log2)),
                                            hn::Set(d1, static_cast<float>(keys_left)), hn::Set(d1, partial.sum)));
  }

  const ForwardArgs<float>& args_;
  const AttentionShape& shape_;
  const AttentionOptions& options_;
  const Scoring scoring_;
  const StopTest stop_;
  const typename Rule::Call call_;
  const bool may_stop_;
  const size_t k_stride_, v_stride_;
};

template <class Rule>
void DecodeOfRule(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  const Decode<Rule> decode(args, options);
  using Joined = typename Decode<Rule>::Joined;
  const size_t per_batch = args.shape.heads;
  const size_t heads = args.shape.batch * per_batch;
  const size_t segments = decode.Segments();
  const auto sequentially = [&](size_t task, size_t /*worker*/) {
    const size_t batch = task / per_batch, head = task % per_batch;
    Joined joined(decode, batch, head);
    for (size_t s = 0; s < segments && !joined.Done(); ++s) joined.Add(s, decode.ComputeSegment(batch, head, s));
    joined.Store();
  };
  if (heads >= parallel.Workers() || segments == 1) return parallel.Run(heads, sequentially);

  // With fewer heads than workers, segments are computed in parallel and joined in the same order with the same stops.
  // Heads that may stop usually do so in the first segment, so the others are only computed where it did not suffice.
  std::vector<Joined> joined;
  for (size_t task = 0; task < heads; ++task) joined.emplace_back(decode, task / per_batch, task % per_batch);
  std::vector<std::vector<Partial>> parts(heads * segments);
  const auto compute = [&](size_t first, size_t last) {
    parallel.Run(heads * (last - first), [&](size_t task, size_t /*worker*/) {
      const size_t head = task % heads;
      const size_t segment = first + task / heads;
      if (!joined[head].Done()) {
        parts[head * segments + segment] = decode.ComputeSegment(head / per_batch, head % per_batch, segment);
      }
    });
    for (size_t head = 0; head < heads; ++head) {
      for (size_t s = first; s < last && !joined[head].Done(); ++s) joined[head].Add(s, parts[head * segments + s]);
    }
  };
  const size_t tried = decode.MayStop() ? 1 : segments;
  compute(0, tried);
  compute(tried, segments);
  for (const Joined& each : joined) each.Store();
}

void DecodeOfTarget(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  DispatchRule(options.rule, [&](auto* rule) {
    using Rule = std::remove_pointer_t<decltype(rule)>;
    if constexpr (Rule::kInfo.joins) DecodeOfRule<Rule>(args, options, parallel);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(DecodeOfTarget);

void RunDecode(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(DecodeOfTarget)(args, options, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
