// Holds the numbers with which a call turns dot products into weights.
#ifndef TRA_KERNELS_ATTENTION_SCORING_H_
#define TRA_KERNELS_ATTENTION_SCORING_H_

#include <cmath>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention/rules.h"
#include "tra/kernels/log2.h"

namespace tra {

// Lower than any logit, yet finite: the difference of two of them is 0, not NaN.
constexpr float kLowest = -1e30f;

struct Scoring {
  Scoring(const AttentionShape& shape, const AttentionOptions& options)
      : to_log2(static_cast<float>(kLog2E / std::sqrt(static_cast<double>(shape.width)))),
        dropout(options.dropout_p > 0.0f ? options.dropout_on : DropoutOn::kNone),
        keep_scale(dropout == DropoutOn::kNone ? 1.0f : 1.0f / (1.0f - options.dropout_p)),
        bounded(options.qk_norm && !ChangesLogits(dropout) && InfoOf(options.rule).bounded),
        // |q| and |k| are at most sqrt(width) after QK-norm, so |q.k| / sqrt(width) <= sqrt(width). Inflated by more
        // than norm and product can round: 256 channels * 2^-23 = 3e-5.
        bound_log2(static_cast<float>(kLog2E * std::sqrt(static_cast<double>(shape.width)) * kInflate)),
        stop_eps(StopEps(options, dropout)) {}

  static float StopEps(const AttentionOptions& options, DropoutOn dropout) {
    if (!InfoOf(options.rule).stops) return kStopNever;
    // Past a stop, dropped logits are added one by one, in another order than without the stop.
    if (options.stop_eps < 0.0f && dropout == DropoutOn::kLogits) return kStopNever;
    return options.stop_eps;
  }
  // Returns what dropout multiplies logits by.
  float LogitScale() const { return dropout == DropoutOn::kLogits ? keep_scale : 1.0f; }
  // Returns whether a key past the stop still counts because dropout set its logit to 0: see docs/kernels.md, "Dropout
  // past the stop".
  bool HasTail() const { return dropout == DropoutOn::kLogits && stop_eps != kStopNever; }

  static constexpr double kInflate = 1.0001;

  float to_log2;  // factor from the dot product of normalised rows to a logit in units of log2
  DropoutOn dropout;
  float keep_scale;  // 1 / (1 - p)
  bool bounded;      // logits are at most bound_log2, so no running maximum is needed
  float bound_log2;
  float stop_eps;
};

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_SCORING_H_
