#include "tra/kernels/attention_check.h"

#include <stdexcept>
#include <string>

namespace tra {

void CheckShape(const AttentionShape& shape) {
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
}

void CheckOptions(const AttentionOptions& options) {
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
