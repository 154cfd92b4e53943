// Shows the runs of a sweep and how they are going, on standard error.
#ifndef TRA_CLI_SWEEP_BOARD_H_
#define TRA_CLI_SWEEP_BOARD_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tra/cli/last_step.h"
#include "tra/run/sweep.h"

namespace tra::cli {

struct SweepJob {
  enum class State : uint8_t { kWaiting, kRunning, kDone, kFailed, kStopped };

  const SweepRun* run = nullptr;
  int64_t steps = 0;
  State state = State::kWaiting;
  pid_t pid = 0;
  double began = 0;                                  // when this attempt began, in seconds since 1970
  int64_t log_begin = 0;                             // where this attempt begins in its log
  std::chrono::steady_clock::time_point held_since;  // by another process that trains it
  std::string reason;                                // why it failed
};

size_t Count(const std::vector<SweepJob>& jobs, SweepJob::State state);

// Shows a table that is overwritten on a terminal, and one line per change elsewhere.
class SweepBoard {
 public:
  explicit SweepBoard(const std::vector<SweepJob>& jobs);

  void Show();
  void Report(const SweepJob& job);
  void Finish() const;  // prints the reasons in full, which the table cuts

 private:
  std::string About(const SweepJob& job);       // one of jobs_
  std::vector<std::string> Lines(size_t rows);  // of the table: at most `rows`, at least one

  const std::vector<SweepJob>& jobs_;
  std::map<ptrdiff_t, LastStep> last_steps_;  // by the place of the job
  bool terminal_;
  size_t lines_ = 0;
};

}  // namespace tra::cli

#endif  // TRA_CLI_SWEEP_BOARD_H_
