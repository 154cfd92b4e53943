// Reads what the folders of runs say, without their weights.
#ifndef TRA_CLI_CHARTED_RUN_H_
#define TRA_CLI_CHARTED_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "tra/report/results.h"
#include "tra/report/run_charts.h"
#include "tra/run/config.h"

namespace tra::cli {

// Returns the results.json files of the runs in or below the given folders, of sweeps (by their folder or their TOML
// file), and the given files themselves, sorted. Throws std::runtime_error for a path that is not there, or if there
// are no files.
std::vector<std::string> FindResults(const std::vector<std::string>& paths);

// Reads them, and tells settings apart by label (LabelRuns).
std::vector<RunResults> ReadAllResults(const std::vector<std::string>& paths);

// Returns the configuration of a run; nothing if there is none, or if this version of the program cannot read it, which
// `trouble` then says.
std::optional<RunConfig> ReadConfigIfThere(const std::string& folder, std::string* trouble);

// Reads the curves of runs, their results, and what tra eval --out wrote beside them, and tells settings apart by
// label. Throws std::runtime_error that begins with the file that cannot be read.
std::vector<ChartedRun> ReadChartedRuns(const std::vector<std::string>& folders);

}  // namespace tra::cli

#endif  // TRA_CLI_CHARTED_RUN_H_
