// Maps a ScoreRule to the type that implements it.
#if defined(TRA_KERNELS_ATTENTION_RULES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ATTENTION_RULES_INL_H_
#undef TRA_KERNELS_ATTENTION_RULES_INL_H_
#else
#define TRA_KERNELS_ATTENTION_RULES_INL_H_
#endif

#include "tra/kernels/attention/rule_contextual-inl.h"
#include "tra/kernels/attention/rule_distance-inl.h"
#include "tra/kernels/attention/rule_forget-inl.h"
#include "tra/kernels/attention/rule_softmax-inl.h"
#include "tra/kernels/attention/rule_threshold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Calls body with a null pointer to the rule's type.
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
      return body(static_cast<ContextualRule*>(nullptr));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ATTENTION_RULES_INL_H_
