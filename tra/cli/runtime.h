// What commands that compute need of the process.
#ifndef TRA_CLI_RUNTIME_H_
#define TRA_CLI_RUNTIME_H_

#include <CLI/App.hpp>

namespace tra::cli {

void AddThreadsOption(CLI::App& command, int& threads);

// Threads of LibTorch and OpenBLAS (0: all cores), and memory that is used again.
void SetUpComputing(int threads);

// From here on Ctrl-C and SIGTERM ask to stop; a second one ends the process as ever.
void CatchStopSignals();
bool StopRequested();

// tra's exit code after a stop on request: nothing failed, but the work is not done.
constexpr int kStoppedOnRequest = 3;

}  // namespace tra::cli

#endif  // TRA_CLI_RUNTIME_H_
