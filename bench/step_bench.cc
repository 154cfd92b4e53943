// Speed and memory of training steps. Prints ratios within this run; see docs/models.md for what they mean.
#include <ATen/Parallel.h>
#include <cblas.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bench/step.h"
#include "tra/kernels/targets.h"
#include "tra/model/attention/variants.h"
#include "tra/ops/pooled_memory.h"

int main(int argc, char** argv) {
  using namespace tra::bench;
  StepSettings settings;
  std::string json, loop;
  std::vector<std::string> sizes = {"mini", "mini512", "medium"};
  bool no_memory = false, only_parts = false;
  CLI::App app("Measures training steps of every attention against RoPE's and sgemm, each checked first.");
  app.add_option("--threads", settings.threads, "threads to use; all cores by default")->check(CLI::Range(1, 4096));
  app.add_option("--rounds", settings.rounds, "rounds of each comparison; the median is reported")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--size", sizes, "mini, mini512, medium: all by default")
      ->check(CLI::IsMember({"mini", "mini512", "medium"}));
  std::vector<std::string> known = {"none"};
  for (const tra::Variant& each : tra::Variants()) known.emplace_back(each.name);
  app.add_option("--attention", settings.attentions, "variants beside tra and rope: all by default; none for no other")
      ->check(CLI::IsMember(known));
  app.add_option("--loop", loop, "only repeat a step of this size, of the first --attention, for a profiler");
  app.add_flag("--no-memory", no_memory, "leave the memory figure out");
  app.add_flag("--parts", only_parts, "only what it brings to compute mixed lengths in parts");
  app.add_option("--json", json, "also write all figures to this file; - prints them instead of the text");
  app.add_flag("--quick", settings.quick, "small batches: for trying it out, not for figures");
  app.footer("Example: step_bench --size mini --attention fot --json figures.json");
  CLI11_PARSE(app, argc, argv);

  // LibTorch takes one thread where cores have no SMT twin, whatever their number.
  if (settings.threads == 0) settings.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  at::set_num_threads(settings.threads);
  openblas_set_num_threads(settings.threads);
  tra::UsePooledMemory();

  Report report;
  report.quiet = json == "-";
  try {
    report.Section("Setup");
    report.Row(Format("SIMD target %s, %d threads", tra::ChosenTargetName().c_str(), settings.threads),
               {{"target", tra::ChosenTargetName()}, {"threads", settings.threads}});
    if (!loop.empty()) {
      RunStepLoop(settings, loop, report);
    } else if (only_parts) {
      RunParts(settings, report);
    } else {
      if (!no_memory && !settings.quick) RunStepMemory(report);
      RunStep(settings, sizes, report);
      RunParts(settings, report);
    }
    if (!json.empty()) report.WriteJson(json);
  } catch (const std::exception& error) {
    std::cerr << "step_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
