// Looks into the runs that still have weights, for the page of tra report.
#ifndef TRA_CLI_REPORT_HEATMAPS_H_
#define TRA_CLI_REPORT_HEATMAPS_H_

#include <cstdint>
#include <string>

#include "tra/inspect/inspected_run.h"
#include "tra/report/page.h"

namespace tra::cli {

struct HeatmapChoice {
  uint64_t example = 0;
  int64_t tokens = 64, heads = 8;  // at most: from the start of the input, and over all layers
};

// Returns what the heads of a run do with the example of this number of the split that is most like training.
Heatmaps DrawHeatmaps(InspectedRun& run, const std::string& title, const HeatmapChoice& choice);

}  // namespace tra::cli

#endif  // TRA_CLI_REPORT_HEATMAPS_H_
