// Trains runs in separate processes, several at a time, with a board that shows how they go.
#ifndef TRA_CLI_RUN_JOBS_H_
#define TRA_CLI_RUN_JOBS_H_

#include <string>
#include <vector>

#include "tra/run/sweep.h"

namespace tra::cli {

// Says what a run computes with.
struct Computing {
  int threads = 1;
  std::string device;          // empty: the CPU
  bool threads_given = false;  // by the user; otherwise a run that has begun keeps its own number
};

// Returns the command that trains a run, or continues it.
std::vector<std::string> TrainArguments(const SweepRun& run, const Computing& with);

// Replaces this process by the command; returns only by throwing std::runtime_error.
[[noreturn]] void BecomeProcess(std::vector<std::string> arguments);

struct JobsEnd {
  size_t done = 0, failed = 0;
  bool stopped = false;  // on request; the same call continues
};

// Trains the runs that are not done, at most `at_once` at a time, until all have ended or a signal asks to stop: then
// each saves and ends. If this process is killed, they do the same. A run that another process trains is waited for,
// for some seconds. The output of a run goes to FOLDER.log. A run that fails does not stop the rest.
JobsEnd RunJobs(const std::vector<SweepRun>& runs, int at_once, const Computing& with);

}  // namespace tra::cli

#endif  // TRA_CLI_RUN_JOBS_H_
