// Says what a number measures, and how numbers of its kind are shown.
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
  const char* title;  // empty for a metric that is unknown
  const char* unit;   // follows a value directly; empty where there is none
  const char* of;     // what a result is a mean over, in the plural; empty where another metric says it
  double scale;       // what a result is multiplied with to be shown
  int decimals;
  Better better;
  bool headline = false;  // shown during training, and in lists of runs
  bool counted = false;   // shown as how many runs of n
};

// Returns the row of a metric. A metric that the table does not have is shown as it is, and none of its values is
// marked as best.
const Metric& FindMetric(std::string_view name);

// Returns the title with the unit: "exact match, %".
std::string TitleWithUnit(const Metric& metric);

// Returns a number as tables and the terminal show it: numbers that print alike are equally good. Large ones are short,
// "1.50e+09", and what is not finite is "nan" or "inf".
std::string Printed(double value, int decimals);

// Returns a value of a metric as tables and the terminal show it, without the unit.
std::string ShownValue(const Metric& metric, double value);

}  // namespace tra

#endif  // TRA_REPORT_MEASURE_H_
