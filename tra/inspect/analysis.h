// Analyses the heads of a run: how sparse they are and how they decay, whether they keep the evidence of the answers,
// and whether more irrelevant tokens change what they do.
#ifndef TRA_INSPECT_ANALYSIS_H_
#define TRA_INSPECT_ANALYSIS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tra/inspect/inspected_run.h"
#include "tra/report/analysis.h"

namespace tra {

struct AnalyzeOptions {
  std::string split;                                // empty: iid; of a text, the one it is scored on
  int64_t examples = 16;                            // or windows of a text; as many as there are, if those are fewer
  std::vector<int64_t> factors = {1, 2, 4, 8, 16};  // how much longer examples are made; empty: not at all
  bool over_training = true;                        // also looks at evidence before training and at checkpoints
  std::function<void(const std::string&)> progress = nullptr;  // is told what is being computed
};

// Throws std::invalid_argument for a split that is not there, and for examples or factors below 1.
Analysis AnalyzeRun(InspectedRun& run, const AnalyzeOptions& options);

}  // namespace tra

#endif  // TRA_INSPECT_ANALYSIS_H_
