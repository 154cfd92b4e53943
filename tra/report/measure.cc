#include "tra/report/measure.h"

#include <cstdio>

namespace tra {

const Metric& FindMetric(std::string_view name) {
  static constexpr Metric kMetrics[] = {
      {"em", "exact match", "%", 100, 2, Better::kHigher, true},
      {"token_error", "token error", "%", 100, 2, Better::kLower},
      {"ppl_token", "perplexity per token", "", 1, 2, Better::kLower, true},
      {"ppl_word", "perplexity per word", "", 1, 2, Better::kLower},
      {"loss", "loss", "", 1, 4, Better::kLower},
      {"solved", "runs that solve it", "", 1, 2, Better::kHigher, false, true},
  };
  static constexpr Metric kUnknown = {"", "", "", 1, 4, Better::kUnknown};
  for (const Metric& metric : kMetrics) {
    if (name == metric.name) return metric;
  }
  return kUnknown;
}

std::string TitleWithUnit(const Metric& metric) {
  return *metric.unit == '\0' ? metric.title : std::string(metric.title) + ", " + metric.unit;
}

std::string ShownValue(const Metric& metric, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", metric.decimals, metric.scale * value);
  return text;
}

}  // namespace tra
