#include "tra/cli/runtime.h"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tra/cli/sweep_process.h"
#include "tra/ops/pooled_memory.h"
#include "tra/ops/threads.h"

namespace tra::cli {
namespace {

std::atomic<bool> stop_requested{false};

// Takes the stop signals that all other threads hold back. The second one ends the process as if there were no handler.
void WaitForStopSignals(const sigset_t& stop) {
  int signal = 0;
  sigwait(&stop, &signal);
  stop_requested = true;
  sigwait(&stop, &signal);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  raise(signal);
}

}  // namespace

sigset_t StopSignals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  return stop;
}

void AddThreadsOption(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads to compute with; all cores by default")->check(CLI::Range(1, 4096));
}

void SetUpComputing(int threads) {
  UseThreads(threads);
  UsePooledMemory();
}

void CatchStopSignals() {
  static const sigset_t stop = StopSignals();
  static const bool once = [] {
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);  // threads that are started from here on inherit it
    std::thread([] { WaitForStopSignals(stop); }).detach();
    return true;
  }();
  static_cast<void>(once);
}

bool StopRequested() { return stop_requested || IsOrphaned(); }

}  // namespace tra::cli
