// Tells apart the settings of runs that were not made by a sweep, which labels its runs.
#ifndef TRA_CLI_LABEL_RUNS_H_
#define TRA_CLI_LABEL_RUNS_H_

#include <vector>

#include "tra/report/results.h"

namespace tra::cli {

// Labels runs by the keys in which their configurations differ: "lr=0.001, heads=4". That is done among runs of the
// same task and attention without a label, whose mean would otherwise be one over different settings. Keys that do not
// change what is learnt do not count, and a run without a readable configuration stays without a label.
void LabelRuns(const std::vector<RunResults*>& runs);

}  // namespace tra::cli

#endif  // TRA_CLI_LABEL_RUNS_H_
