#include "tra/cli/runtime.h"

#include <ATen/Parallel.h>
#include <cblas.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "tra/ops/pooled_memory.h"

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
  // By default LibTorch takes one thread where cores have no hyper-threading, however many there are.
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  at::set_num_threads(threads);
  openblas_set_num_threads(threads);
  UsePooledMemory();
}

void CatchStopSignals() {
  std::signal(SIGINT, &OnStopSignal);
  std::signal(SIGTERM, &OnStopSignal);
}

bool StopRequested() { return stop_requested != 0; }

}  // namespace tra::cli
