#include "tra/kernels/attention_check.h"

#include <stdexcept>
#include <string>

namespace tra {

void CheckProblem(const AttentionShape& shape, const AttentionOptions& options) {
  const auto text = [](size_t n) { return std::to_string(n); };
  if (shape.width == 0 || shape.width > kMaxHeadWidth || shape.value_width == 0 || shape.value_width > kMaxHeadWidth) {
    throw std::invalid_argument("attention: head widths must be 1.." + text(kMaxHeadWidth) + ", got q and k " +
                                text(shape.width) + ", v " + text(shape.value_width) + "; use more heads");
  }
  if (shape.queries > shape.keys) {
    throw std::invalid_argument(
        "attention: " + text(shape.queries) + " queries but only " + text(shape.keys) +
        " keys; the queries are the last positions of the keys, so pass the keys of all of them");
  }
  if (shape.keys > (size_t{1} << 24)) {
    throw std::invalid_argument("attention: " + text(shape.keys) + " keys; counts are exact only up to 2^24");
  }
  if (options.rule == ScoreRule::kDistance && shape.table == 0) {
    throw std::invalid_argument("attention: the table of biases by distance is empty; give it at least one");
  }
  if (options.rule == ScoreRule::kContextual && (shape.table == 0 || shape.table > kMaxTable)) {
    throw std::invalid_argument("attention: contextual positions must be 1.." + text(kMaxTable) + ", got " +
                                text(shape.table));
  }
  const bool of_tra = options.rule == ScoreRule::kThreshold || options.rule == ScoreRule::kSoftmax;
  if (options.dropout_on == DropoutOn::kLogits && options.dropout_p > 0.0f && !of_tra) {
    throw std::invalid_argument("attention: this rule has no dropout on logits; use dropout on weights");
  }
  if (!(options.dropout_p >= 0.0f && options.dropout_p < 1.0f)) {
    throw std::invalid_argument("attention: dropout_p must be in [0, 1), got " + std::to_string(options.dropout_p));
  }
  if (!(options.stop_eps < 1.0f) || (options.stop_eps < 0.0f && options.stop_eps != kStopWhenExact)) {
    throw std::invalid_argument("attention: stop_eps must be in [0, 1), or -1 to stop only where no bit changes; got " +
                                std::to_string(options.stop_eps));
  }
  if (!(options.norm_eps > 0.0f)) {
    throw std::invalid_argument("attention: norm_eps must be positive, or a zero row would be divided by zero; got " +
                                std::to_string(options.norm_eps));
  }
}

}  // namespace tra
