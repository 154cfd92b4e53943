// Runs as processes of their own, several at a time, with a board that shows how they go.
#ifndef TRA_CLI_RUN_JOBS_H_
#define TRA_CLI_RUN_JOBS_H_

#include <string>
#include <vector>

#include "tra/run/sweep.h"

namespace tra::cli {

// What a run computes with.
struct Computing {
  int threads = 1;
  std::string device;  // empty: the processor
};

// The command that trains a run, or goes on with it.
std::vector<std::string> TrainArguments(const SweepRun& run, const Computing& with);

// Puts the command in the place of this process; returns only by throwing std::runtime_error.
[[noreturn]] void BecomeProcess(std::vector<std::string> arguments);

struct JobsEnd {
  size_t done = 0, failed = 0;
  bool stopped = false;  // on request; the same call goes on
};

// Trains those that are not done, at most `at_once` at a time, until all have ended or a signal asks to stop: then each
// saves and ends. What a run says goes to FOLDER.log. One that fails does not stop the rest.
JobsEnd RunJobs(const std::vector<SweepRun>& runs, int at_once, const Computing& with);

}  // namespace tra::cli

#endif  // TRA_CLI_RUN_JOBS_H_
