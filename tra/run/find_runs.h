// Finds runs in and below folders.
#ifndef TRA_RUN_FIND_RUNS_H_
#define TRA_RUN_FIND_RUNS_H_

#include <set>
#include <string>
#include <vector>

namespace tra {

// Returns the files that have one of the names, in or below the given folders or the folders of sweeps, which may be
// given by their TOML files, and the other given files themselves; sorted, as often as they were given. Throws
// std::runtime_error for a path that is not there.
std::vector<std::string> FindFiles(const std::vector<std::string>& paths, const std::set<std::string>& names);

// Returns the folders of runs in or below the given folders and sweeps, sorted, each once: also of runs that are still
// trained. Throws std::runtime_error for a path that is not there, or if there are no runs.
std::vector<std::string> FindRuns(const std::vector<std::string>& paths);

}  // namespace tra

#endif  // TRA_RUN_FIND_RUNS_H_
