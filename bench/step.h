// Measures one training step of a whole model.
#ifndef TRA_BENCH_STEP_H_
#define TRA_BENCH_STEP_H_

#include <string>
#include <vector>

#include "bench/report.h"

namespace tra::bench {

struct StepSettings {
  int rounds = 4;
  int threads = 0;  // 0 means all cores, until UseThreads sets the number
  bool quick = false;
  std::vector<std::string> attentions;  // empty means all
};

// Returns the names of the sizes.
std::vector<std::string> StepSizes();

// Compares the time of a step of each variant, at these sizes, with RoPE's, with sgemm's rate and with the step's
// products alone.
void RunStep(const StepSettings& settings, const std::vector<std::string>& sizes, Report& report);
// Reports the peak of the resident set over two steps of mini at batch 64, T 512. Must run first, while nothing else
// has used memory.
void RunStepMemory(Report& report);
// Repeats a step, to profile it.
void RunStepLoop(const StepSettings& settings, const std::string& size, Report& report);

}  // namespace tra::bench

#endif  // TRA_BENCH_STEP_H_
