// Score rules: what becomes of a raw dot product. Adding a rule means adding one struct like those below, and one row
// to DispatchRule.
//
// A rule lives for one vector of queries and walks their keys from right to left:
//   Logit(s, scale, offset, keys, r)  s * scale + (the rule's own terms) + offset, in units of log2
//   Grad(d_logit, drop, keys, r)      collects the gradient of the rule's own input, before Next; returns that of the
//                                     scaled score, which is d_logit unless the own terms depend on the score
//   Next(drop)                        moves on to the next key; `drop` marks the lanes that did not keep this one
//   Save                              puts back what must outlive the block of keys
//   kBounded                          QK-norm bounds its logits, so they need no running maximum
//   kThreshold                        keys can drop out: rows that no lane keeps are skipped
//   kWalks                            Grad and Next are wanted on every row, not only where some lanes stand before the
//                                     key
#if defined(TRA_KERNELS_RULES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_RULES_INL_H_
#undef TRA_KERNELS_RULES_INL_H_
#else
#define TRA_KERNELS_RULES_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <limits>

#include "tra/kernels/key_rows-inl.h"
#include "tra/kernels/layout.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// What a tile of queries carries from one block of keys to the next; each an aligned array of kTile floats.
struct TileLanes {
  float* gate2;   // log2 of the gate; kForget: of all gates from the tile's first query on
  float* count;   // kept keys so far, as the next kept key counts them
  float* max2;    // what is subtracted from the logits: the largest so far, or a bound on all
  float* sum;     // of the weights so far, relative to max2
  float* bound2;  // no logit to come can exceed bound2 + count * gate2
  float* geo;     // 1 / (1 - gate): kept keys to come weigh at most that many times the nearest of them; 0: not yet set
  float* scale2;  // from a dot product to a logit in units of log2, the query's share of QK-norm included
  float* d_gate;  // backward: of the log gate (kThreshold), or gradients of the positions so far (kContextual)
  float* total;   // backward, kContextual: gradients of all positions
  static constexpr size_t kArrays = 9;

  static TileLanes At(float* floats) {
    return {floats,
            floats + kTile,
            floats + 2 * kTile,
            floats + 3 * kTile,
            floats + 4 * kTile,
            floats + 5 * kTile,
            floats + 6 * kTile,
            floats + 7 * kTile,
            floats + 8 * kTile};
  }
};

// Plain causal softmax attention.
struct SoftmaxRule {
  static constexpr bool kBounded = true, kThreshold = false, kWalks = false;

  SoftmaxRule(const TileLanes& /*tile*/, const KeyRows& /*keys*/, size_t /*v*/) {}
  HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& /*keys*/, size_t /*r*/) const {
    return hn::MulAdd(s, scale, offset);
  }
  HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& /*keys*/, size_t /*r*/) const { return d_logit; }
  HWY_INLINE void Next(MF /*drop*/) const {}
  void Save(const TileLanes& /*tile*/, size_t /*v*/) const {}
};

// Threshold Relative Attention: a key that does not score above zero is dropped; every key kept pushes the ones behind
// it one gate further away.
struct ThresholdRule {
  static constexpr bool kBounded = true, kThreshold = true, kWalks = true;

  ThresholdRule(const TileLanes& tile, const KeyRows& /*keys*/, size_t v)
      : gate2(hn::Load(DF(), tile.gate2 + v * kLanes)),
        count(hn::Load(DF(), tile.count + v * kLanes)),
        d_gate(hn::Load(DF(), tile.d_gate + v * kLanes)) {}
  HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& /*keys*/, size_t /*r*/) const {
    return hn::MulAdd(s, scale, hn::MulAdd(count, gate2, offset));
  }
  HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& /*keys*/, size_t /*r*/) {
    d_gate = hn::MulAdd(d_logit, count, d_gate);
    return d_logit;
  }
  HWY_INLINE void Next(MF drop) { count = hn::Add(count, hn::IfThenZeroElse(drop, hn::Set(DF(), 1.0f))); }
  void Save(const TileLanes& tile, size_t v) const {
    hn::Store(count, DF(), tile.count + v * kLanes);
    hn::Store(d_gate, DF(), tile.d_gate + v * kLanes);
  }

  VF gate2, count, d_gate;
};

// Forgetting: terms[offset] is the log2 of all gates between the key and the tile's first query, to which each lane
// adds those from there on. Where the key is one of the tile's positions these would cancel, and strong gates with them
// all precision, so such pairs have a table.
struct ForgetRule : SoftmaxRule {
  static constexpr bool kBounded = false, kWalks = true;

  ForgetRule(const TileLanes& tile, const KeyRows& keys, size_t v)
      : SoftmaxRule(tile, keys, v), first_lane(v * kLanes), from_first(hn::Load(DF(), tile.gate2 + v * kLanes)) {}
  HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& keys, size_t r) const {
    const ptrdiff_t ahead = static_cast<ptrdiff_t>(keys.first_key + keys.Offset(r)) - keys.first_position;
    const VF term = ahead > 0 ? hn::Load(DF(), keys.near + static_cast<size_t>(ahead) * kTile + first_lane)
                              : hn::Add(from_first, hn::Set(DF(), keys.terms[keys.Offset(r)]));
    return hn::MulAdd(s, scale, hn::Add(offset, term));
  }
  // d_terms [offset][kLanes]: one more sum over the lanes makes the gradient.
  HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& keys, size_t r) const {
    float* HWY_RESTRICT to = keys.d_terms + keys.Offset(r) * kLanes;
    hn::Store(hn::Add(hn::Load(DF(), to), d_logit), DF(), to);
    return d_logit;
  }

  size_t first_lane;
  VF from_first;
};

// A bias by distance: neighbouring queries find theirs side by side. terms[lane - offset] is that of a lane.
struct DistanceRule : SoftmaxRule {
  static constexpr bool kBounded = false, kWalks = true;

  DistanceRule(const TileLanes& tile, const KeyRows& keys, size_t v)
      : SoftmaxRule(tile, keys, v), first_lane(static_cast<ptrdiff_t>(v * kLanes)) {}
  HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& keys, size_t r) const {
    return hn::MulAdd(s, scale, hn::Add(offset, hn::LoadU(DF(), keys.terms + Lane(keys, r))));
  }
  HWY_INLINE VF Grad(VF d_logit, MF /*drop*/, const KeyRows& keys, size_t r) const {
    float* HWY_RESTRICT to = keys.d_terms + Lane(keys, r);
    hn::StoreU(hn::Add(hn::LoadU(DF(), to), d_logit), DF(), to);
    return d_logit;
  }
  HWY_INLINE ptrdiff_t Lane(const KeyRows& keys, size_t r) const {
    return first_lane - static_cast<ptrdiff_t>(keys.Offset(r));
  }

  ptrdiff_t first_lane;
};

// Contextual positions: every key adds its gate sigmoid(s) to the position of itself and of all keys behind it.
// terms [table][kTile] is z in units of log2. The gradient of a key's gate is the sum over the keys behind it, which
// the walk has not seen yet: it is the total, from a walk before (kTotal), less what has been seen.
template <bool kTotal>
struct ContextualRule {
  static constexpr bool kBounded = false, kThreshold = false, kWalks = true;

  ContextualRule(const TileLanes& tile, const KeyRows& keys, size_t v)
      : position(hn::Load(DF(), tile.count + v * kLanes)),
        seen(hn::Load(DF(), tile.d_gate + v * kLanes)),
        total(hn::Load(DF(), tile.total + v * kLanes)),
        last(hn::Set(DF(), static_cast<float>(keys.table) - 1.0f)),
        gate(hn::Zero(DF())),
        at(gate),
        low(gate),
        slope(gate),
        first_lane(v * kLanes) {}

  HWY_INLINE VF Logit(VF s, VF scale, VF offset, const KeyRows& keys, size_t /*r*/) {
    const DF df;
    const hn::RebindToSigned<DF> di;
    const VF one = hn::Set(df, 1.0f), smallest = hn::Set(df, -120.0f);
    const VF x = hn::Mul(s, scale);
    gate = hn::Div(one, hn::Add(one, Exp2(hn::Neg(hn::IfThenElse(hn::Lt(x, smallest), smallest, x)))));
    const VF p = hn::Add(position, gate);
    at = hn::IfThenElse(hn::Lt(p, last), p, last);  // so also where p is NaN: it becomes an index
    low = hn::Floor(at);
    const auto lanes = hn::Iota(di, static_cast<int32_t>(first_lane));
    const auto row = hn::Set(di, static_cast<int32_t>(kTile));
    const auto z_at = [&](VF index) HWY_ATTR {
      return hn::GatherIndex(df, keys.terms, hn::Add(hn::Mul(hn::ConvertTo(di, index), row), lanes));
    };
    const VF z = z_at(low);
    slope = hn::Sub(z_at(hn::Ceil(at)), z);
    return hn::Add(hn::MulAdd(slope, hn::Sub(at, low), z), hn::Add(x, offset));
  }

  HWY_INLINE VF Grad(VF d_logit, MF drop, const KeyRows& keys, size_t /*r*/) {
    const DF df;
    constexpr float kLn2 = 0.693147181f;
    // forward: logit += z at p   so: d_p = d_logit * slope
    const VF d_position = hn::IfThenZeroElse(drop, hn::Mul(d_logit, hn::Mul(slope, hn::Set(df, kLn2))));
    if constexpr (kTotal) {
      seen = hn::Add(seen, d_position);
      return d_logit;
    }
    const VF d_gate = hn::Sub(total, seen);
    seen = hn::Add(seen, d_position);
    Scatter(d_logit, keys.d_terms);
    const VF d_sigmoid = hn::Mul(gate, hn::NegMulAdd(gate, d_gate, d_gate));
    return hn::Add(d_logit, hn::IfThenZeroElse(drop, d_sigmoid));
  }

  HWY_INLINE void Next(MF drop) { position = hn::Add(position, hn::IfThenZeroElse(drop, gate)); }

  void Save(const TileLanes& tile, size_t v) const {
    hn::Store(position, DF(), tile.count + v * kLanes);
    hn::Store(seen, DF(), tile.d_gate + v * kLanes);
  }

  // forward: logit += (1 - w) * z[low] + w * z[low + 1], w = at - low
  HWY_INLINE void Scatter(VF d_logit, float* HWY_RESTRICT d_terms) const {
    const DF df;
    if (hn::AllTrue(df, hn::Ge(low, last))) {  // far keys: the last position for all
      float* to = d_terms + static_cast<size_t>(hn::GetLane(last)) * kTile + first_lane;
      hn::Store(hn::Add(hn::Load(df, to), d_logit), df, to);
      return;
    }
    HWY_ALIGN float d[kLanes], index[kLanes], weight[kLanes];
    hn::Store(d_logit, df, d);
    hn::Store(low, df, index);
    hn::Store(hn::Sub(at, low), df, weight);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      if (d[lane] == 0.0f) continue;  // a key of the future may have NaN for a weight
      float* to = d_terms + static_cast<size_t>(index[lane]) * kTile + first_lane + lane;
      to[0] += d[lane] * (1.0f - weight[lane]);
      if (weight[lane] != 0.0f) to[kTile] += d[lane] * weight[lane];
    }
  }

  VF position, seen, total, last;
  VF gate, at, low, slope;  // of this key
  size_t first_lane;
};

// The numbers a head's scores are turned into weights with.
struct Scoring {
  explicit Scoring(const AttentionShape& shape, const AttentionOptions& options)
      : scale2(static_cast<float>(kLog2E / std::sqrt(static_cast<double>(shape.width)))),
        dropout(options.dropout_p > 0.0f ? options.dropout_on : DropoutOn::kNone),
        keep_scale(dropout == DropoutOn::kNone ? 1.0f : 1.0f / (1.0f - options.dropout_p)),
        // Counting from 0 or from 1 is the same to a softmax, and 0 leaves the nearest key undecayed however strong the
        // gate; but a dropped logit is 0, not shifted, so there the paper's 1 matters.
        first_count(dropout == DropoutOn::kLogits ? 1.0f : 0.0f),
        bounded(options.qk_norm && dropout != DropoutOn::kLogits &&
                (options.rule == ScoreRule::kSoftmax || options.rule == ScoreRule::kThreshold)),
        // |q| and |k| are at most sqrt(width) after QK-norm, so |q.k| / sqrt(width) <= sqrt(width). Inflated beyond the
        // rounding of norm and product: 256 channels * 2^-23 = 3e-5.
        bound2(static_cast<float>(kLog2E * std::sqrt(static_cast<double>(shape.width)) * kInflate)),
        stop_eps(StopEps(options, dropout)) {}

  static float StopEps(const AttentionOptions& options, DropoutOn dropout) {
    if (options.rule != ScoreRule::kThreshold) return kStopNever;
    // Dropped logits past a stop are added one by one, in another order than without it.
    if (options.stop_eps < 0.0f && dropout == DropoutOn::kLogits) return kStopNever;
    return options.stop_eps;
  }
  // What dropout multiplies logits by.
  float LogitScale() const { return dropout == DropoutOn::kLogits ? keep_scale : 1.0f; }

  static constexpr double kLog2E = 1.4426950408889634;
  static constexpr double kInflate = 1.0001;

  float scale2;  // from the dot product of normalised rows to a logit in units of log2
  DropoutOn dropout;
  float keep_scale;  // 1 / (1 - p)
  float first_count;
  bool bounded;  // by bound2, so no running maximum is needed
  float bound2;
  float stop_eps;
};

// At most how many times the nearest of them do kept keys with this gate weigh together: 1 + e^g + e^2g + ...
HWY_INLINE float GeometricSum(float gate2) {
  const float minus = std::expm1(0.6931472f * gate2);  // e^g - 1
  return minus < 0.0f ? -1.0f / minus : std::numeric_limits<float>::infinity();
}

// Calls body with the rule as a type.
template <class Body>
HWY_INLINE void DispatchRule(ScoreRule rule, const Body& body) {
  switch (rule) {
    case ScoreRule::kSoftmax:
      return body(static_cast<SoftmaxRule*>(nullptr));
    case ScoreRule::kThreshold:
      return body(static_cast<ThresholdRule*>(nullptr));
    case ScoreRule::kForget:
      return body(static_cast<ForgetRule*>(nullptr));
    case ScoreRule::kDistance:
      return body(static_cast<DistanceRule*>(nullptr));
    case ScoreRule::kContextual:
      return body(static_cast<ContextualRule<false>*>(nullptr));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_RULES_INL_H_
