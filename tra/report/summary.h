// Summarises the same number under different seeds.
#ifndef TRA_REPORT_SUMMARY_H_
#define TRA_REPORT_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace tra {

struct Summary {
  int64_t n = 0;  // number of values; 0: the rest means nothing
  double mean = 0.0;
  std::optional<double> std;  // of a sample, divided by n-1; none for a single value
  double min = 0.0, median = 0.0, max = 0.0;
};

// Summarises values, the same to the last bit whatever their order. One NaN makes everything but n NaN.
Summary Summarize(std::vector<double> values);

}  // namespace tra

#endif  // TRA_REPORT_SUMMARY_H_
