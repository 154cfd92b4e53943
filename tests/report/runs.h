// Makes results of runs by hand.
#ifndef TESTS_REPORT_RUNS_H_
#define TESTS_REPORT_RUNS_H_

#include <string>
#include <utility>
#include <vector>

#include "tra/report/results.h"

namespace tra {

inline RunResults RunOf(const std::string& task, const std::string& attention, uint64_t seed,
                        std::vector<ResultRow> rows, const std::string& label = "") {
  RunResults run;
  run.task = task;
  run.attention = attention;
  run.label = label;
  run.seed = seed;
  run.step = 2000;
  run.rows = std::move(rows);
  run.file = attention + label + "-" + std::to_string(seed) + ".json";
  return run;
}

inline ResultRow Em(const std::string& split, double value, const std::string& group = "") {
  return {split, group, 0, "em", value, 1000};
}

inline ResultRow Perplexity(int64_t window, double value, const std::string& metric = "ppl_token") {
  return {"test", "", window, metric, value, 245'569};
}

}  // namespace tra

#endif  // TESTS_REPORT_RUNS_H_
