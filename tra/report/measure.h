// What a number is of, and how numbers of its kind are read.
#ifndef TRA_REPORT_MEASURE_H_
#define TRA_REPORT_MEASURE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tra {

struct Measure {
  std::string task, split, group;
  int64_t window = 0;
  std::string metric;

  bool operator==(const Measure& other) const {
    return task == other.task && split == other.split && group == other.group && window == other.window &&
           metric == other.metric;
  }
};

enum class Better { kHigher, kLower, kUnknown };

struct Metric {
  const char* name;
  const char* title;  // with its unit; "" of a metric that is unknown
  double scale;       // from a result to what tables show
  int decimals;
  Better better;
  bool counted = false;  // of runs: how many of n
};

// A metric that the table of metrics does not have is shown as it is, and none of its values is best.
const Metric& FindMetric(std::string_view name);

}  // namespace tra

#endif  // TRA_REPORT_MEASURE_H_
