// Every run on a line of its own, to be computed with or looked up.
#ifndef TRA_REPORT_RUN_LIST_H_
#define TRA_REPORT_RUN_LIST_H_

#include <string>
#include <vector>

#include "tra/report/results.h"

namespace tra {

// CSV: task, attention, label, seed, step, solved, exact match in percent on each split that any of them has, and the
// folder; or perplexities by window. In the order of the paper's attentions, then of labels and seeds.
std::string RunListCsv(std::vector<RunResults> runs);

}  // namespace tra

#endif  // TRA_REPORT_RUN_LIST_H_
