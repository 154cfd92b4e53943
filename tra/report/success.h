// How often runs solve their task.
#ifndef TRA_REPORT_SUCCESS_H_
#define TRA_REPORT_SUCCESS_H_

#include <cstdint>
#include <optional>

#include "tra/report/results.h"

namespace tra {

// Every example of every split right. Nothing where the run has no exact match, as those of texts have none.
std::optional<bool> Solved(const RunResults& run);

struct Interval {
  double low, high;
};

// Wilson's 95% interval of a probability that came true `hits` times of `n`, n at least 1: sensible for few runs, and
// at 0 and at n of n.
Interval WilsonInterval(int64_t hits, int64_t n);

}  // namespace tra

#endif  // TRA_REPORT_SUCCESS_H_
