// Sets up the process for commands that compute.
#ifndef TRA_CLI_RUNTIME_H_
#define TRA_CLI_RUNTIME_H_

#include <CLI/App.hpp>
#include <csignal>

namespace tra::cli {

void AddThreadsOption(CLI::App& command, int& threads);

// Sets the number of threads (0: all cores), and keeps the memory of large tensors for the next ones.
void SetUpComputing(int threads);

// Makes Ctrl-C and SIGTERM ask to stop from here on; a second one ends the process as usual. A thread of its own takes
// the signals, and no handler runs on a thread that computes (tra/ops/held_signals.h says why), so this comes before
// anything starts threads.
void CatchStopSignals();
bool StopRequested();

// Returns the signals that ask to stop.
sigset_t StopSignals();

// tra's exit code after a stop on request: nothing failed, but the work is not done.
constexpr int kStoppedOnRequest = 3;

}  // namespace tra::cli

#endif  // TRA_CLI_RUNTIME_H_
