// tra bench step: speed and memory of training steps.
#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "bench/options.h"
#include "bench/step.h"
#include "tra/kernels/targets.h"
#include "tra/model/attention/variants.h"
#include "tra/ops/pooled_memory.h"
#include "tra/ops/threads.h"

namespace tra::bench {
namespace {

struct Request {
  StepSettings settings;
  std::string json, loop;
  std::vector<std::string> sizes = StepSizes();
  bool no_memory = false;
};

void Run(const Request& request) {
  StepSettings settings = request.settings;
  settings.threads = UseThreads(settings.threads);
  UsePooledMemory();  // as training does

  Report report;
  report.quiet = request.json == "-";
  report.Section("Setup");
  report.Row(Format("SIMD target %s, %d threads", ChosenTargetName().c_str(), settings.threads),
             {{"target", ChosenTargetName()}, {"threads", settings.threads}});
  if (!request.loop.empty()) {
    RunStepLoop(settings, request.loop, report);
  } else {
    if (!request.no_memory && !settings.quick) RunStepMemory(report);
    RunStep(settings, request.sizes, report);
  }
  if (!request.json.empty()) report.WriteJson(request.json);
}

}  // namespace

void AddStep(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("step", "Training steps of every attention against RoPE's and sgemm");
  auto request = std::make_shared<Request>();
  AddThreadsOption(*command, request->settings.threads);
  AddRoundsOption(*command, request->settings.rounds);
  command->add_option("--size", request->sizes, "all by default")->check(CLI::IsMember(StepSizes()));
  std::vector<std::string> known = {"none"};
  for (const Variant& each : Variants()) known.emplace_back(each.name);
  command
      ->add_option("--attention", request->settings.attentions,
                   "variants beside tra and rope: all by default; none for no other")
      ->check(CLI::IsMember(known));
  command->add_option("--loop", request->loop,
                      "only repeat a step of this size, of the first --attention, for a profiler");
  command->add_flag("--no-memory", request->no_memory, "leave the memory figure out");
  AddJsonOption(*command, request->json);
  command->add_flag("--quick", request->settings.quick, "small batches: for trying it out, not for figures");
  command->footer("Example: tra bench step --size mini --attention fot --json figures.json");
  command->callback([request] { Run(*request); });
}

}  // namespace tra::bench
