// Measures how often runs solve their task.
#ifndef TRA_REPORT_SUCCESS_H_
#define TRA_REPORT_SUCCESS_H_

#include <cstdint>
#include <optional>

#include "tra/report/results.h"

namespace tra {

// Says whether every example of every split is right. Returns nothing if the run has no exact match, as on texts.
std::optional<bool> Solved(const RunResults& run);

struct Interval {
  double low, high;
};

// Returns Wilson's 95% interval of a probability after `hits` successes in `n` trials, n at least 1. It is sensible for
// few runs, and at 0 and n successes.
Interval WilsonInterval(int64_t hits, int64_t n);

}  // namespace tra

#endif  // TRA_REPORT_SUCCESS_H_
