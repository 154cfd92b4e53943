#include "tra/report/measure.h"

#include <array>

namespace tra {

const Metric& FindMetric(std::string_view name) {
  static constexpr std::array<Metric, 6> kMetrics = {{{"em", "exact match, %", 100, 2, Better::kHigher},
                                                      {"token_error", "token error, %", 100, 2, Better::kLower},
                                                      {"ppl_token", "perplexity per token", 1, 2, Better::kLower},
                                                      {"ppl_word", "perplexity per word", 1, 2, Better::kLower},
                                                      {"loss", "loss", 1, 4, Better::kLower},
                                                      {"solved", "runs that solve it", 1, 2, Better::kHigher, true}}};
  static constexpr Metric kUnknown = {"", "", 1, 4, Better::kUnknown};
  for (const Metric& metric : kMetrics) {
    if (name == metric.name) return metric;
  }
  return kUnknown;
}

}  // namespace tra
