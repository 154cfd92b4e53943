// Decides when a walk from right to left may end. docs/kernels.md, "The early stop", has the proof: after n kept keys
// no later logit exceeds bound + n * gate (all in base 2), and each later kept key adds one more gate to that bound, so
// all of them together weigh at most 2^(bound + n * gate) times min(keys left, 1 / (1 - 2^gate)).
#if defined(TRA_KERNELS_ATTENTION_STOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_STOP_INL_H_
#undef TRA_KERNELS_ATTENTION_STOP_INL_H_
#else
#define TRA_KERNELS_ATTENTION_STOP_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <limits>

#include "tra/kernels/attention/scoring.h"
#include "tra/kernels/log2.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Returns a bound on what kept keys with this gate weigh together, relative to the nearest: 1 + e^g + e^2g + ...
HWY_INLINE float GeometricSum(float gate_log2) {
  const float minus = std::expm1(static_cast<float>(kLn2) * gate_log2);  // e^g - 1
  return minus < 0.0f ? -1.0f / minus : std::numeric_limits<float>::infinity();
}

class StopTest {
 public:
  explicit StopTest(const Scoring& scoring)
      : exact_(scoring.stop_eps < 0.0f),
        // Weight dropout scales up the weights that remain.
        eps_(scoring.stop_eps / scoring.keep_scale) {}

  // Returns the lanes in which the unseen keys are negligible. `relative_log2` is their largest possible logit minus
  // the maximum that `sum` is relative to.
  template <class D>
  HWY_INLINE hn::Mask<D> Negligible(D d, hn::Vec<D> relative_log2, hn::Vec<D> geometric_sum, hn::Vec<D> keys_left,
                                    hn::Vec<D> sum) const {
    hn::Mask<D> negligible;
    if (exact_) {
      negligible = hn::Lt(relative_log2, hn::Set(d, kZeroBelowLog2 - 1.0f));
    } else {
      const auto top = hn::Set(d, 120.0f);  // keeps Exp2 in its range; nothing this large is negligible
      const auto largest = Exp2(d, hn::IfThenElse(hn::Gt(relative_log2, top), top, relative_log2));
      const auto unseen = hn::Mul(largest, hn::IfThenElse(hn::Lt(keys_left, geometric_sum), keys_left, geometric_sum));
      negligible = hn::Le(unseen, hn::Mul(hn::Set(d, eps_), sum));
    }
    // Before the first kept key there is no sum to compare with.
    return hn::And(negligible, hn::Gt(sum, hn::Zero(d)));
  }

 private:
  bool exact_;  // stop only where every later weight is exactly 0
  float eps_;
};

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_STOP_INL_H_
