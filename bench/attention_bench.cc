// Speed and memory of the attention kernels. Prints ratios within this run; see docs/kernels.md for what they mean.
#include <ATen/Parallel.h>
#include <cblas.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench.h"
#include "tra/kernels/targets.h"

int main(int argc, char** argv) {
  using namespace tra::bench;
  Settings settings;
  std::string json;
  std::vector<std::string> only;
  CLI::App app("Measures the attention kernels against sgemm, composed operations and memory, each checked first.");
  app.add_option("--threads", settings.threads, "threads to use; all cores by default")->check(CLI::Range(1, 4096));
  app.add_option("--rounds", settings.rounds, "rounds of each comparison; the median is reported")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--only", only, "parts to run; loop, only if named, repeats forward + backward for a profiler")
      ->check(CLI::IsMember({"correctness", "speed", "loop", "stop", "memory", "decode"}));
  app.add_option("--json", json, "also write all figures to this file; - prints them instead of the text");
  app.add_flag("--quick", settings.quick, "shorter sequences and fewer of them: a minute instead of several");
  app.footer("Example: attention_bench --only speed --only decode --json figures.json");
  CLI11_PARSE(app, argc, argv);

  // LibTorch takes one thread where cores have no SMT twin, whatever their number.
  if (settings.threads == 0) settings.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  at::set_num_threads(settings.threads);
  openblas_set_num_threads(settings.threads);
  if (settings.quick && app.count("--rounds") == 0) settings.rounds = 5;

  Report report;
  report.quiet = json == "-";
  const auto wanted = [&](const char* part) {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  };
  try {
    report.Section("Setup");
    report.Row(Format("SIMD target %s, %d threads, LibTorch %s", tra::ChosenTargetName().c_str(), settings.threads,
                      TORCH_VERSION),
               {{"target", tra::ChosenTargetName()}, {"threads", settings.threads}, {"libtorch", TORCH_VERSION}});
    if (wanted("correctness")) RunCorrectness(report);
    if (wanted("speed")) RunSpeed(settings, report);
    if (!only.empty() && wanted("loop")) RunLoop(settings, report);
    if (wanted("stop")) RunStop(settings, report);
    if (wanted("decode")) RunDecode(settings, report);
    if (wanted("memory")) RunMemory(settings, report);
    if (!json.empty()) report.WriteJson(json);
  } catch (const std::exception& error) {
    std::cerr << "attention_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
