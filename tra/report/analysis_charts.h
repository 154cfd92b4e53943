// Draws analyses of the heads of runs.
#ifndef TRA_REPORT_ANALYSIS_CHARTS_H_
#define TRA_REPORT_ANALYSIS_CHARTS_H_

#include <string>
#include <vector>

#include "tra/report/analysis.h"
#include "tra/report/chart.h"

namespace tra {

struct NamedChart {
  std::string name;  // for a file; no two are the same
  Chart chart;
};

// Returns what there is to draw: "heads", which has sparsity and gate of the heads of all runs, and for each run
// "evidence" over training and "stretched" by length. With several runs, the names of their folders follow.
std::vector<NamedChart> AnalysisCharts(const std::vector<Analysis>& runs);

}  // namespace tra

#endif  // TRA_REPORT_ANALYSIS_CHARTS_H_
