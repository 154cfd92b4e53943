// From a tile of scores to weights, forward and backward, and when a tile may stop.
#if defined(TRA_KERNELS_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_SCORE_INL_H_
#undef TRA_KERNELS_SCORE_INL_H_
#else
#define TRA_KERNELS_SCORE_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tra/kernels/rules-inl.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Lower than any logit, yet finite: the difference of two of them is 0, not NaN.
constexpr float kLowest = -1e30f;

template <class Rule, bool kDiagonal>
HWY_INLINE MF Rejected(const KeyRows& keys, size_t r, VF s, VF lanes) {
  if constexpr (Rule::kThreshold && kDiagonal) {
    return hn::Or(hn::Le(s, hn::Zero(DF())), keys.Future(r, lanes));
  } else if constexpr (Rule::kThreshold) {
    return hn::Le(s, hn::Zero(DF()));  // not !(s > 0): NaN must stay
  } else if constexpr (kDiagonal) {
    return keys.Future(r, lanes);
  } else {
    return hn::Lt(lanes, hn::Zero(DF()));  // none
  }
}

// s becomes the weights, relative to tile.max2; alpha is what earlier sums must be multiplied by.
template <class Rule, DropoutOn kDrop, bool kBounded>
HWY_INLINE void WeighTileImpl(const Scoring& scoring, const KeyRows& keys, const TileLanes& tile, float* HWY_RESTRICT s,
                              float* HWY_RESTRICT alpha) {
  const DF df;
  const VF keep_scale = hn::Set(df, scoring.keep_scale);
  for (size_t v = 0; v < kVecs; ++v) {
    const VF lanes = hn::Iota(df, static_cast<float>(v * kLanes));
    const VF query_scale = hn::Load(df, tile.scale2 + v * kLanes);
    float* HWY_RESTRICT column = s + v * kLanes;
    Rule rule(tile, keys, v);
    VF sum = hn::Zero(df);
    const auto weigh = [&](VF p, size_t r) HWY_ATTR {
      sum = hn::Add(sum, p);
      if constexpr (kDrop == DropoutOn::kWeights) {
        p = hn::IfThenZeroElse(keys.DroppedOut(r, v), hn::Mul(p, keep_scale));
      }
      hn::Store(p, df, column + r * kTile);
    };

    const VF old_max = hn::Load(df, tile.max2 + v * kLanes);
    const VF minus_inf = hn::Set(df, -std::numeric_limits<float>::infinity());
    VF max = old_max;
    const VF offset = kBounded ? hn::Neg(old_max) : hn::Zero(df);
    RightToLeft(keys, [&](size_t r, auto diagonal) HWY_ATTR {
      const VF score = hn::Load(df, column + r * kTile);
      VF y = rule.Logit(score, keys.Scale(r, query_scale), offset, keys, r);
      if constexpr (kDrop == DropoutOn::kLogits) {
        y = hn::IfThenZeroElse(keys.DroppedOut(r, v), hn::Mul(y, keep_scale));
      }
      if constexpr (Rule::kThreshold || Rule::kWalks || decltype(diagonal)::value) {
        const MF drop = Rejected<Rule, decltype(diagonal)::value>(keys, r, score, lanes);
        rule.Next(drop);
        if constexpr (kBounded) return weigh(Exp2Unless(drop, y), r);
        y = hn::IfThenElse(drop, minus_inf, y);
      } else if constexpr (kBounded) {
        return weigh(Exp2(y), r);
      }
      max = hn::Max(max, y);
      hn::Store(y, df, column + r * kTile);
    });

    VF old_sum = hn::Load(df, tile.sum + v * kLanes);
    if constexpr (!kBounded) {
      const VF shrink = Exp2(hn::Sub(old_max, max));
      for (size_t r = 0; r < keys.rows; ++r) weigh(Exp2(hn::Sub(hn::Load(df, column + r * kTile), max)), r);
      old_sum = hn::Mul(old_sum, shrink);
      hn::Store(max, df, tile.max2 + v * kLanes);
      hn::Store(shrink, df, alpha + v * kLanes);
    }
    hn::Store(hn::Add(old_sum, sum), df, tile.sum + v * kLanes);
    rule.Save(tile, v);
  }
}

// s becomes the weights (as v was multiplied with them), d_p becomes the gradient of the dot products, but for a factor
// of ln 2: logits here are in units of log2, their gradients are not.
template <class Rule, DropoutOn kDrop>
HWY_INLINE void GradTileImpl(const Scoring& scoring, const KeyRows& keys, const TileLanes& tile,
                             const float* HWY_RESTRICT log2_sum, const float* HWY_RESTRICT delta, float* HWY_RESTRICT s,
                             float* HWY_RESTRICT d_p) {
  const DF df;
  const VF keep_scale = hn::Set(df, scoring.keep_scale);
  for (size_t v = 0; v < kVecs; ++v) {
    const VF lanes = hn::Iota(df, static_cast<float>(v * kLanes));
    const VF query_scale = hn::Load(df, tile.scale2 + v * kLanes);
    const VF minus_sum = hn::Neg(hn::Load(df, log2_sum + v * kLanes));
    const VF row_delta = hn::Load(df, delta + v * kLanes);
    Rule rule(tile, keys, v);
    RightToLeft(keys, [&](size_t r, auto diagonal) HWY_ATTR {
      float* HWY_RESTRICT s_at = s + r * kTile + v * kLanes;
      float* HWY_RESTRICT d_at = d_p + r * kTile + v * kLanes;
      const VF score = hn::Load(df, s_at);
      const VF scale = keys.Scale(r, query_scale);
      VF d = hn::Load(df, d_at);
      VF p;
      if constexpr (kDrop == DropoutOn::kLogits) {
        // forward: y = dropped ? 0 : logit * keep_scale   so: d_logit = dropped ? 0 : d_y * keep_scale
        const MF dropped = keys.DroppedOut(r, v);
        const VF logit = rule.Logit(score, scale, hn::Zero(df), keys, r);
        p = Exp2(hn::Add(hn::IfThenZeroElse(dropped, hn::Mul(logit, keep_scale)), minus_sum));
        d = hn::IfThenZeroElse(dropped, hn::Mul(hn::Mul(p, hn::Sub(d, row_delta)), keep_scale));
      } else {
        p = Exp2(rule.Logit(score, scale, minus_sum, keys, r));
        if constexpr (kDrop == DropoutOn::kWeights) {
          // forward: out += (dropped ? 0 : p * keep_scale) * v   so: d_p = dropped ? 0 : (d_out . v) * keep_scale
          const MF dropped = keys.DroppedOut(r, v);
          d = hn::Mul(p, hn::Sub(hn::IfThenZeroElse(dropped, hn::Mul(d, keep_scale)), row_delta));
          p = hn::IfThenZeroElse(dropped, hn::Mul(p, keep_scale));
        } else {
          d = hn::Mul(p, hn::Sub(d, row_delta));
        }
      }
      if constexpr (Rule::kThreshold || Rule::kWalks || decltype(diagonal)::value) {
        const MF drop = Rejected<Rule, decltype(diagonal)::value>(keys, r, score, lanes);
        p = hn::IfThenZeroElse(drop, p);
        d = rule.Grad(hn::IfThenZeroElse(drop, d), drop, keys, r);
        rule.Next(drop);
      }
      hn::Store(p, df, s_at);
      hn::Store(hn::Mul(d, scale), df, d_at);
    });
    rule.Save(tile, v);
  }
}

// Whether all that the `keys_left` unseen keys can still add is negligible to every one of the first `queries` lanes:
// their weights are at most 2^(bound + count * gate), each kept one at least a gate smaller than the one before it.
HWY_INLINE bool NothingLeft(const Scoring& scoring, const TileLanes& tile, size_t keys_left, size_t queries) {
  if (scoring.stop_eps == kStopNever) return false;
  const DF df;
  if (tile.geo[0] == 0.0f) {
    for (size_t lane = 0; lane < kTile; ++lane) {
      tile.geo[lane] = GeometricSum(tile.gate2[lane] * scoring.LogitScale());
    }
  }
  const VF logit_scale = hn::Set(df, scoring.LogitScale());
  // Weight dropout makes the weights that remain larger.
  const VF eps = hn::Set(df, scoring.stop_eps / scoring.keep_scale);
  const VF left = hn::Set(df, static_cast<float>(keys_left));
  for (size_t v = 0; v < kVecs; ++v) {
    const size_t at = v * kLanes;
    const VF largest =
        hn::MulAdd(hn::Load(df, tile.count + at), hn::Load(df, tile.gate2 + at), hn::Load(df, tile.bound2 + at));
    const VF relative = hn::Sub(hn::Mul(largest, logit_scale), hn::Load(df, tile.max2 + at));
    MF done;
    if (scoring.stop_eps < 0.0f) {
      done = hn::Lt(relative, hn::Set(df, kZeroBelow2 - 1.0f));
    } else {
      const VF top = hn::Set(df, 120.0f);  // keeps Exp2 in its range; nothing this large is negligible
      const VF largest_weight = Exp2(hn::IfThenElse(hn::Gt(relative, top), top, relative));
      const VF many = hn::Load(df, tile.geo + at);
      const VF unseen = hn::Mul(largest_weight, hn::IfThenElse(hn::Lt(left, many), left, many));
      done = hn::Le(unseen, hn::Mul(eps, hn::Load(df, tile.sum + at)));
    }
    // Before the first kept key there is nothing to be negligible to.
    done = hn::And(done, hn::Gt(hn::Load(df, tile.sum + at), hn::Zero(df)));
    const MF absent = hn::Ge(hn::Iota(df, static_cast<float>(at)), hn::Set(df, static_cast<float>(queries)));
    if (!hn::AllTrue(df, hn::Or(done, absent))) return false;
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_SCORE_INL_H_
