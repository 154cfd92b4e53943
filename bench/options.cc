#include "bench/options.h"

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

}  // namespace tra::bench
