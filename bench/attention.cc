// tra bench attention and tra bench decode: speed and memory of the attention kernels.
#include <torch/version.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/commands.h"
#include "bench/options.h"
#include "tra/kernels/targets.h"
#include "tra/ops/threads.h"

namespace tra::bench {
namespace {

struct Request {
  Settings settings;
  std::vector<std::string> only;
  std::string json;
};

void Run(const Request& request) {
  Settings settings = request.settings;
  settings.threads = UseThreads(settings.threads);
  const auto named = [&](const char* part) {
    return std::find(request.only.begin(), request.only.end(), part) != request.only.end();
  };
  const auto wanted = [&](const char* part) { return request.only.empty() || named(part); };
  Report report;
  report.quiet = request.json == "-";
  report.Section("Setup");
  report.Row(
      Format("SIMD target %s, %d threads, LibTorch %s", ChosenTargetName().c_str(), settings.threads, TORCH_VERSION),
      {{"target", ChosenTargetName()}, {"threads", settings.threads}, {"libtorch", TORCH_VERSION}});
  if (wanted("correctness")) RunCorrectness(report);
  if (wanted("speed")) RunSpeed(settings, report);
  if (wanted("shapes")) RunShapes(settings, report);
  if (named("loop")) RunLoop(settings, report);
  if (wanted("stop")) RunStop(settings, report);
  if (wanted("decode")) RunDecode(settings, report);
  if (wanted("memory")) RunMemory(settings, report);
  if (!request.json.empty()) report.WriteJson(request.json);
}

// Adds the options that both commands take.
void AddOptions(CLI::App& command, const std::shared_ptr<Request>& request) {
  AddThreadsOption(command, request->settings.threads);
  AddRoundsOption(command, request->settings.rounds);
  AddJsonOption(command, request->json);
  command.add_flag("--quick", request->settings.quick,
                   "shorter sequences and fewer of them: a minute instead of several");
  command.callback([request, &command] {
    if (request->settings.quick && command.count("--rounds") == 0) request->settings.rounds = 5;
    Run(*request);
  });
}

}  // namespace

void AddAttention(CLI::App& bench) {
  CLI::App* command =
      bench.add_subcommand("attention", "The attention kernels against sgemm, composed operations and memory");
  auto request = std::make_shared<Request>();
  command
      ->add_option("--only", request->only,
                   "parts to run; loop, only if named, repeats forward + backward for a profiler")
      ->check(CLI::IsMember({"correctness", "speed", "shapes", "loop", "stop", "memory", "decode"}));
  command->add_option("--loop-shape", request->settings.loop_shape, "batch, heads, T and d of the loop")
      ->expected(4)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
      ->capture_default_str();
  AddOptions(*command, request);
  command->footer("Example: tra bench attention --only speed --only decode --json figures.json");
}

void AddDecode(CLI::App& bench) {
  CLI::App* command =
      bench.add_subcommand("decode", "One query against a long cache, beside the time it takes to read that");
  auto request = std::make_shared<Request>();
  request->only = {"decode"};
  AddOptions(*command, request);
  command->footer("Example: tra bench decode --quick");
}

}  // namespace tra::bench
