// Turns a tile of scores into weights, and gradients of weights into gradients of scores.
#if defined(TRA_KERNELS_ATTENTION_WEIGH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_WEIGH_INL_H_
#undef TRA_KERNELS_ATTENTION_WEIGH_INL_H_
#else
#define TRA_KERNELS_ATTENTION_WEIGH_INL_H_
#endif

#include <cstddef>
#include <limits>
#include <type_traits>

#include "tra/kernels/attention/query_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

template <class Rule, bool kDiagonal>
HWY_INLINE MF Rejected(const KeyRows& keys, size_t r, VF s, VF lanes) {
  if constexpr (Rule::kInfo.drops_keys && kDiagonal) {
    return hn::Or(hn::Le(s, hn::Zero(DF())), keys.Future(r, lanes));
  } else if constexpr (Rule::kInfo.drops_keys) {
    return hn::Le(s, hn::Zero(DF()));  // not !(s > 0): NaN must stay
  } else if constexpr (kDiagonal) {
    return keys.Future(r, lanes);
  } else {
    return hn::Lt(lanes, hn::Zero(DF()));  // no lane
  }
}

template <DropoutOn kOn>
using Drop = std::integral_constant<DropoutOn, kOn>;

// Turns scores s into weights relative to tile.lanes.max_log2, and sets alpha to what earlier sums must be multiplied
// by; with kBounded that is always 1 and alpha is left alone.
template <class Rule, DropoutOn kDrop, bool kBounded>
HWY_INLINE void WeighTileImpl(const Scoring& scoring, const KeyRows& keys, const typename Rule::Block& block,
                              QueryTile<Rule>& tile, float* HWY_RESTRICT s, float* HWY_RESTRICT alpha) {
  using Walk = typename Rule::Walk;
  const DF df;
  SoftmaxLanes& softmax = tile.lanes;
  const VF keep_scale = hn::Set(df, scoring.keep_scale);
  for (size_t v = 0; v < keys.vecs; ++v) {
    const VF lanes = CountFrom(df, static_cast<float>(v * kLanes));
    const VF to_log2 = hn::Load(df, softmax.to_log2 + v * kLanes);
    float* HWY_RESTRICT column = s + v * kLanes;
    Walk walk(tile.rule, block, v);
    VF sum = hn::Zero(df);
    const auto weigh = [&](VF p, size_t r) HWY_ATTR {
      sum = hn::Add(sum, p);
      if constexpr (kDrop == DropoutOn::kWeights) {
        p = hn::IfThenZeroElse(keys.DroppedOut(r, v), hn::Mul(p, keep_scale));
      }
      hn::Store(p, df, column + r * kTile);
    };

    const VF old_max = hn::Load(df, softmax.max_log2 + v * kLanes);
    const VF minus_inf = hn::Set(df, -std::numeric_limits<float>::infinity());
    VF max = old_max;
    const VF offset = kBounded ? hn::Neg(old_max) : hn::Zero(df);
    RightToLeft(keys, v, [&](size_t r, auto diagonal) HWY_ATTR {
      const VF score = hn::Load(df, column + r * kTile);
      VF y = walk.Logit(score, keys.Scale(r, to_log2), offset, keys, r);
      if constexpr (kDrop == DropoutOn::kLogits) {
        y = hn::IfThenZeroElse(keys.DroppedOut(r, v), hn::Mul(y, keep_scale));
      }
      if constexpr (Rule::kInfo.drops_keys || Walk::kEveryRow || decltype(diagonal)::value) {
        const MF drop = Rejected<Rule, decltype(diagonal)::value>(keys, r, score, lanes);
        walk.Next(drop);
        if constexpr (kBounded) return weigh(Exp2Unless(drop, y), r);
        y = hn::IfThenElse(drop, minus_inf, y);
      } else if constexpr (kBounded) {
        return weigh(Exp2(y), r);
      }
      max = hn::Max(max, y);
      hn::Store(y, df, column + r * kTile);
    });

    VF old_sum = hn::Load(df, softmax.sum + v * kLanes);
    if constexpr (!kBounded) {
      const VF shrink = Exp2(hn::Sub(old_max, max));
      for (size_t r = 0; r < keys.end[v]; ++r) weigh(Exp2(hn::Sub(hn::Load(df, column + r * kTile), max)), r);
      old_sum = hn::Mul(old_sum, shrink);
      hn::Store(max, df, softmax.max_log2 + v * kLanes);
      hn::Store(shrink, df, alpha + v * kLanes);
    }
    hn::Store(hn::Add(old_sum, sum), df, softmax.sum + v * kLanes);
    ZeroUnseen(keys, v, s);
    walk.Save(tile.rule, v);
  }
}

template <class Rule>
HWY_INLINE void WeighTile(const Scoring& scoring, const KeyRows& keys, const typename Rule::Block& block,
                          QueryTile<Rule>& tile, float* s, float* alpha) {
  const auto weigh = [&](auto drop, auto bounded) HWY_ATTR {
    WeighTileImpl<Rule, decltype(drop)::value, decltype(bounded)::value>(scoring, keys, block, tile, s, alpha);
  };
  const auto weigh_bounded_or_not = [&](auto drop) HWY_ATTR {
    if constexpr (Rule::kInfo.bounded) {
      if (scoring.bounded) return weigh(drop, std::true_type());
    }
    weigh(drop, std::false_type());
  };
  switch (scoring.dropout) {
    case DropoutOn::kNone:
      return weigh_bounded_or_not(Drop<DropoutOn::kNone>());
    case DropoutOn::kWeights:
      return weigh_bounded_or_not(Drop<DropoutOn::kWeights>());
    case DropoutOn::kLogits:
      if constexpr (Rule::kInfo.takes_logit_dropout) weigh(Drop<DropoutOn::kLogits>(), std::false_type());
      return;
  }
}

// Holds what the backward needs of each query's softmax to compute its gradient
//   dL = P o (dP - delta),  delta = rowsum(dP o P) = rowsum(dO o O).
struct GradLanes {
  HWY_ALIGN float to_log2[kTile];   // as in SoftmaxLanes
  HWY_ALIGN float log2_sum[kTile];  // from the forward
  HWY_ALIGN float delta[kTile];
};

// Turns scores s into the weights P that v was multiplied by, and d_p = dO . V into the gradient of the dot products
// except for a factor of ln 2: logits here are in units of log2, their gradients are not.
template <class Rule, class Walk, DropoutOn kDrop>
HWY_INLINE void GradTileImpl(const Scoring& scoring, const KeyRows& keys, const typename Rule::GradBlock& block,
                             const GradLanes& softmax, typename Rule::GradTile& tile, float* HWY_RESTRICT s,
                             float* HWY_RESTRICT d_p) {
  const DF df;
  const VF keep_scale = hn::Set(df, scoring.keep_scale);
  for (size_t v = 0; v < keys.vecs; ++v) {
    const VF lanes = CountFrom(df, static_cast<float>(v * kLanes));
    const VF to_log2 = hn::Load(df, softmax.to_log2 + v * kLanes);
    const VF minus_sum = hn::Neg(hn::Load(df, softmax.log2_sum + v * kLanes));
    const VF delta = hn::Load(df, softmax.delta + v * kLanes);
    Walk walk(tile, block, v);
    RightToLeft(keys, v, [&](size_t r, auto diagonal) HWY_ATTR {
      float* HWY_RESTRICT s_at = s + r * kTile + v * kLanes;
      float* HWY_RESTRICT d_at = d_p + r * kTile + v * kLanes;
      const VF score = hn::Load(df, s_at);
      const VF scale = keys.Scale(r, to_log2);
      VF d = hn::Load(df, d_at);
      VF p;
      if constexpr (kDrop == DropoutOn::kLogits) {
        // forward: y = dropped ? 0 : logit * keep_scale   so: d_logit = dropped ? 0 : d_y * keep_scale
        const MF dropped = keys.DroppedOut(r, v);
        const VF logit = walk.Logit(score, scale, hn::Zero(df), keys, r);
        p = Exp2(hn::Add(hn::IfThenZeroElse(dropped, hn::Mul(logit, keep_scale)), minus_sum));
        d = hn::IfThenZeroElse(dropped, hn::Mul(hn::Mul(p, hn::Sub(d, delta)), keep_scale));
      } else {
        p = Exp2(walk.Logit(score, scale, minus_sum, keys, r));
        if constexpr (kDrop == DropoutOn::kWeights) {
          // forward: out += (dropped ? 0 : p * keep_scale) * v   so: d_p = dropped ? 0 : (d_out . v) * keep_scale
          const MF dropped = keys.DroppedOut(r, v);
          d = hn::Mul(p, hn::Sub(hn::IfThenZeroElse(dropped, hn::Mul(d, keep_scale)), delta));
          p = hn::IfThenZeroElse(dropped, hn::Mul(p, keep_scale));
        } else {
          d = hn::Mul(p, hn::Sub(d, delta));  // dL = P o (dP - delta)
        }
      }
      VF d_score;
      if constexpr (Rule::kInfo.drops_keys || Walk::kEveryRow || decltype(diagonal)::value) {
        const MF drop = Rejected<Rule, decltype(diagonal)::value>(keys, r, score, lanes);
        p = hn::IfThenZeroElse(drop, p);
        d = walk.Grad(hn::IfThenZeroElse(drop, d), drop, keys, r);
        walk.Next(drop);
        d_score = hn::IfThenZeroElse(drop, hn::Mul(d, scale));  // selected again: the scale of a key may be NaN
      } else {
        d_score = hn::Mul(d, scale);
      }
      hn::Store(p, df, s_at);
      hn::Store(d_score, df, d_at);
    });
    ZeroUnseen(keys, v, s);
    ZeroUnseen(keys, v, d_p);
    walk.Save(tile, v);
  }
}

template <class Rule, class Walk>
HWY_INLINE void GradTile(const Scoring& scoring, const KeyRows& keys, const typename Rule::GradBlock& block,
                         const GradLanes& softmax, typename Rule::GradTile& tile, float* s, float* d_p) {
  const auto grad = [&](auto drop) HWY_ATTR {
    GradTileImpl<Rule, Walk, decltype(drop)::value>(scoring, keys, block, softmax, tile, s, d_p);
  };
  switch (scoring.dropout) {
    case DropoutOn::kNone:
      return grad(Drop<DropoutOn::kNone>());
    case DropoutOn::kWeights:
      return grad(Drop<DropoutOn::kWeights>());
    case DropoutOn::kLogits:
      if constexpr (Rule::kInfo.takes_logit_dropout) grad(Drop<DropoutOn::kLogits>());
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_WEIGH_INL_H_
