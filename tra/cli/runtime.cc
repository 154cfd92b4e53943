#include "tra/cli/runtime.h"

#include <csignal>

#include "tra/ops/pooled_memory.h"
#include "tra/ops/threads.h"

namespace tra::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void OnStopSignal(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void AddThreadsOption(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads to compute with; all cores by default")->check(CLI::Range(1, 4096));
}

void SetUpComputing(int threads) {
  UseThreads(threads);
  UsePooledMemory();
}

void CatchStopSignals() {
  std::signal(SIGINT, &OnStopSignal);
  std::signal(SIGTERM, &OnStopSignal);
}

bool StopRequested() { return stop_requested != 0; }

}  // namespace tra::cli
