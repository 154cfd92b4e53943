// Lists runs, one per line.
#ifndef TRA_REPORT_RUN_LIST_H_
#define TRA_REPORT_RUN_LIST_H_

#include <string>
#include <vector>

#include "tra/report/results.h"

namespace tra {

// Returns CSV with one line per run: task, attention, label, seed, step, solved, exact match in percent on each split
// that any of them has (perplexity by window for texts), and the folder. Sorted by task, then in the order of the
// paper's attentions, then by label and seed.
std::string RunListCsv(std::vector<RunResults> runs);

}  // namespace tra

#endif  // TRA_REPORT_RUN_LIST_H_
