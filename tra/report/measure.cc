#include "tra/report/measure.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tra {

const Metric& FindMetric(std::string_view name) {
  static constexpr Metric kMetrics[] = {
      {"em", "exact match", "%", "examples", 100, 2, Better::kHigher, true},
      {"token_error", "token error", "%", "answers", 100, 2, Better::kLower},
      {"ppl_token", "perplexity per token", "", "tokens", 1, 2, Better::kLower, true},
      {"ppl_word", "perplexity per word", "", "words", 1, 2, Better::kLower},
      {"bits_per_byte", "bits per byte", "", "bytes", 1, 4, Better::kLower},
      {"loss", "loss", "", "", 1, 4, Better::kLower},
      {"solved", "runs that solve it", "", "runs", 1, 2, Better::kHigher, false, true},
  };
  static constexpr Metric kUnknown = {"", "", "", "n", 1, 4, Better::kUnknown};
  for (const Metric& metric : kMetrics) {
    if (name == metric.name) return metric;
  }
  return kUnknown;
}

std::string TitleWithUnit(const Metric& metric) {
  return *metric.unit == '\0' ? metric.title : std::string(metric.title) + ", " + metric.unit;
}

std::string Printed(double value, int decimals) {
  if (std::isnan(value)) return "nan";  // to_chars would also write -nan
  constexpr double kWide = 1e6;         // a diverged perplexity may have hundreds of digits
  std::array<char, 64> text{};
  const auto format = std::abs(value) < kWide ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, decimals);
  return {text.data(), end.ptr};
}

std::string ShownValue(const Metric& metric, double value) { return Printed(metric.scale * value, metric.decimals); }

}  // namespace tra
