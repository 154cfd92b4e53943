// Score rules: what becomes of a raw dot product. Adding a rule means adding one struct like those below, and one row
// to DispatchRule.
//
// A rule lives for one vector of queries and walks their keys from right to left:
//   Logit(s, scale, offset, key)  s * scale + (the rule's own terms) + offset, in units of log2
//   Grad(d_logit)                 collects the gradient of the rule's own inputs, before Next
//   Next(drop)                    moves on to the next key; `drop` marks the lanes that did not keep this one
// Rules without a threshold get Grad and Next only where some lanes stand before the key, so they must not need them.
//   Save                          puts back what must outlive the block of keys
#if defined(TRA_KERNELS_RULES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_RULES_INL_H_
#undef TRA_KERNELS_RULES_INL_H_
#else
#define TRA_KERNELS_RULES_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <limits>

#include "tra/kernels/layout.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// What a tile of queries carries from one block of keys to the next; each an aligned array of kTile floats.
struct TileLanes {
  float* gate2;   // log2 of the gate
  float* count;   // kept keys so far, as the next kept key counts them
  float* max2;    // what is subtracted from the logits: the largest so far, or a bound on all
  float* sum;     // of the weights so far, relative to max2
  float* bound2;  // no logit to come can exceed bound2 + count * gate2
  float* geo;     // 1 / (1 - gate): kept keys to come weigh at most that many times the nearest of them; 0: not yet set
  float* scale2;  // from a dot product to a logit in units of log2, the query's share of QK-norm included
  float* d_gate;  // gradient of the log gate, backward only
  static constexpr size_t kArrays = 8;

  static TileLanes At(float* floats) {
    return {floats,
            floats + kTile,
            floats + 2 * kTile,
            floats + 3 * kTile,
            floats + 4 * kTile,
            floats + 5 * kTile,
            floats + 6 * kTile,
            floats + 7 * kTile};
  }
};

// Plain causal softmax attention.
struct SoftmaxRule {
  static constexpr bool kThreshold = false;

  SoftmaxRule(const TileLanes& /*tile*/, size_t /*v*/) {}
  HWY_INLINE VF Logit(VF s, VF scale, VF offset, size_t /*key*/) const { return hn::MulAdd(s, scale, offset); }
  HWY_INLINE void Next(MF /*drop*/) {}
  HWY_INLINE void Grad(VF /*d_logit*/) {}
  void Save(const TileLanes& /*tile*/, size_t /*v*/) const {}
};

// Threshold Relative Attention: a key that does not score above zero is dropped; every key kept pushes the ones behind
// it one gate further away.
struct ThresholdRule {
  static constexpr bool kThreshold = true;

  ThresholdRule(const TileLanes& tile, size_t v)
      : gate2(hn::Load(DF(), tile.gate2 + v * kLanes)),
        count(hn::Load(DF(), tile.count + v * kLanes)),
        d_gate(hn::Load(DF(), tile.d_gate + v * kLanes)) {}
  HWY_INLINE VF Logit(VF s, VF scale, VF offset, size_t /*key*/) const {
    return hn::MulAdd(s, scale, hn::MulAdd(count, gate2, offset));
  }
  HWY_INLINE void Next(MF drop) { count = hn::Add(count, hn::IfThenZeroElse(drop, hn::Set(DF(), 1.0f))); }
  HWY_INLINE void Grad(VF d_logit) { d_gate = hn::MulAdd(d_logit, count, d_gate); }
  void Save(const TileLanes& tile, size_t v) const {
    hn::Store(count, DF(), tile.count + v * kLanes);
    hn::Store(d_gate, DF(), tile.d_gate + v * kLanes);
  }

  VF gate2, count, d_gate;
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
        bounded(options.qk_norm && dropout != DropoutOn::kLogits),
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
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_RULES_INL_H_
