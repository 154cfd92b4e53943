// Lets the runs of a sweep notice that the sweep is gone, however it ended: nobody else would know of them.
#ifndef TRA_CLI_SWEEP_PROCESS_H_
#define TRA_CLI_SWEEP_PROCESS_H_

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tra::cli {

// Holds the id of the process that sweeps. A run polls for its end: a death signal of the kernel would come once for
// each thread of the sweep, and the second one asks a run to end without saving.
constexpr char kSweepProcess[] = "TRA_SWEEP_PROCESS";

// Tells all processes that this one starts from here on that they belong to its sweep.
inline void AnnounceSweep() { setenv(kSweepProcess, std::to_string(getpid()).c_str(), /*overwrite=*/1); }

// Says whether this process is a run of a sweep that has ended.
inline bool IsOrphaned() {
  static const char* const sweep = std::getenv(kSweepProcess);
  return sweep != nullptr && sweep != std::to_string(getpid()) && sweep != std::to_string(getppid());
}

}  // namespace tra::cli

#endif  // TRA_CLI_SWEEP_PROCESS_H_
