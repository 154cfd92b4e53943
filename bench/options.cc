#include "bench/options.h"

#include <ATen/Parallel.h>
#include <cblas.h>

#include <algorithm>
#include <thread>

namespace tra::bench {

void AddRoundsOption(CLI::App& command, int& rounds) {
  command.add_option("--rounds", rounds, "rounds of each measurement; the median is reported")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void AddJsonOption(CLI::App& command, std::string& json) {
  command.add_option("--json", json, "also write all figures to this file; - prints them instead of the text");
}

void AddThreadsOption(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads to use; all cores by default")->check(CLI::Range(1, 4096));
}

void UseThreads(int& threads) {
  // By default LibTorch uses one thread where cores have no SMT, however many cores there are.
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  at::set_num_threads(threads);
  openblas_set_num_threads(threads);
}

}  // namespace tra::bench
