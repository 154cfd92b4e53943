// What is said of the same number under different seeds.
#ifndef TRA_REPORT_SUMMARY_H_
#define TRA_REPORT_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace tra {

struct Summary {
  int64_t n = 0;  // 0: there is no value, and the rest says nothing
  double mean = 0.0;
  std::optional<double> std;  // of a sample: over n-1; none of a single value
  double min = 0.0, median = 0.0, max = 0.0;
};

// The same to the last bit whatever the order. One NaN makes everything but n NaN.
Summary Summarize(std::vector<double> values);

}  // namespace tra

#endif  // TRA_REPORT_SUMMARY_H_
