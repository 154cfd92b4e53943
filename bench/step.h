// One training step of a whole model.
#ifndef TRA_BENCH_STEP_H_
#define TRA_BENCH_STEP_H_

#include <string>
#include <vector>

#include "bench/report.h"

namespace tra::bench {

struct StepSettings {
  int rounds = 4;
  int threads = 0;  // all cores, until UseThreads
  bool quick = false;
  std::vector<std::string> attentions;  // empty is all
};

// Time of a step by variant, mini and medium, beside RoPE's, sgemm's rate and the step's products alone.
void RunStep(const StepSettings& settings, const std::vector<std::string>& sizes, Report& report);
// The resident set's peak over two steps of mini at batch 64, T 512. First, while nothing else has used memory.
void RunStepMemory(Report& report);
// A step of copy, whose examples have mixed lengths, in parts and as one rectangle.
void RunParts(const StepSettings& settings, Report& report);
// A step again and again, to profile.
void RunStepLoop(const StepSettings& settings, const std::string& size, Report& report);

}  // namespace tra::bench

#endif  // TRA_BENCH_STEP_H_
