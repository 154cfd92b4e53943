// The runs of a sweep and how they are going, on standard error.
#ifndef TRA_CLI_SWEEP_BOARD_H_
#define TRA_CLI_SWEEP_BOARD_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tra/run/sweep.h"

namespace tra::cli {

struct SweepJob {
  enum class State : uint8_t { kWaiting, kRunning, kDone, kFailed, kStopped };

  const SweepRun* run = nullptr;
  int64_t steps = 0;
  State state = State::kWaiting;
  pid_t pid = 0;
  int64_t log_begin = 0;  // in its log; earlier attempts stand before
  std::string reason;     // why it failed
};

size_t Count(const std::vector<SweepJob>& jobs, SweepJob::State state);

// On a terminal a table that is written over; elsewhere a line for each change.
class SweepBoard {
 public:
  explicit SweepBoard(const std::vector<SweepJob>& jobs);

  void Show();
  void Changed(const SweepJob& job) const;
  void Finish() const;  // the reasons in full, which the table cuts

 private:
  const std::vector<SweepJob>& jobs_;
  bool terminal_;
  size_t lines_ = 0;
};

}  // namespace tra::cli

#endif  // TRA_CLI_SWEEP_BOARD_H_
