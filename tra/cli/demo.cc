// tra demo: compares TRA with RoPE and FoT on flip-flop within minutes, with several seeds each.
#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/demo_config.h"  // configs/demo.toml
#include "tra/cli/output.h"
#include "tra/cli/progress.h"
#include "tra/cli/run_jobs.h"
#include "tra/cli/runtime.h"
#include "tra/eval/evaluate.h"
#include "tra/report/chart.h"
#include "tra/report/curve.h"
#include "tra/report/paper.h"
#include "tra/report/render.h"
#include "tra/report/specs.h"
#include "tra/report/tables.h"
#include "tra/run/data.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/run/loaded_run.h"
#include "tra/tasks/task.h"

namespace tra::cli {
namespace {

constexpr const char* kAttentions[] = {"tra", "rope", "fot"};

struct Request {
  std::string folder = "runs/demo";
  std::vector<std::string> set;
  int seeds = 3, jobs = 0;
};

std::string RunFolder(const Request& request, const std::string& attention, int seed) {
  return request.folder + "/" + attention + "-s" + std::to_string(seed);
}

void RequireSameSettings(const std::string& path, const RunConfig& config) {
  if (!IsDone(path) && !HasCheckpoints(path)) return;
  const std::string differences = ConfigDifferences(config, ReadRunConfig(path));
  if (differences.empty()) return;
  throw std::invalid_argument(path + ": holds a demo with other settings: " + differences +
                              "; give this one another --folder, or move that one away");
}

// Plans the runs, all attentions of a seed after each other, so that the first runs to end can be compared.
std::vector<SweepRun> PlanRuns(const Request& request) {
  const std::string config_file = request.folder + "/demo.toml";
  std::vector<SweepRun> runs;
  for (int seed = 1; seed <= request.seeds; ++seed) {
    for (const std::string attention : kAttentions) {
      SweepRun run;
      run.name = attention + "-s" + std::to_string(seed);
      run.folder = RunFolder(request, attention, seed);
      run.config = config_file;
      run.overrides = request.set;
      run.overrides.push_back("model.attention=" + attention);
      run.overrides.push_back("train.seed=" + std::to_string(seed));
      RequireSameSettings(run.folder, ParseConfig(kDemoConfig, run.overrides, "configs/demo.toml"));
      runs.push_back(std::move(run));
    }
  }
  std::filesystem::create_directories(request.folder);
  WriteWhole(config_file, kDemoConfig);
  return runs;
}

// Draws exact match during training, with one panel per split: the mean over seeds, and the range from the lowest to
// the highest. Returns the path of the file.
std::string DrawCurves(const Request& request) {
  Chart chart;
  chart.title = "Flip-flop: exact match during training, mean and range of " + std::to_string(request.seeds) + " seeds";
  chart.x.label = "step";
  chart.y = {"exact match, %", 0, 100};
  for (const Split& split : FindTask("flipflop").splits) {
    if (split.name == std::string("train")) continue;
    Panel panel = {split.name, {}};
    for (const char* attention : kAttentions) {
      std::vector<Curve> curves;
      for (int seed = 1; seed <= request.seeds; ++seed) {
        curves.push_back(ReadCurve(RunFolder(request, attention, seed), "eval/" + panel.title + "/em"));
        for (auto& [step, value] : curves.back()) value *= 100;
      }
      const CurveSummary summary = SummarizeCurves(curves);
      panel.series.push_back({kPaperAttentions[PaperOrder(attention)].title, summary.mean, summary.range});
    }
    chart.panels.push_back(std::move(panel));
  }
  std::string path = request.folder + "/exact_match.svg";
  Output out(path);
  out.Write(ChartSvg(chart));
  out.Finish();
  return path;
}

std::vector<RunResults> ReadAll(const std::vector<SweepRun>& runs, const std::string& file) {
  std::vector<RunResults> results;
  for (const SweepRun& run : runs) {
    results.push_back(ReadResults(run.folder + "/" + file));
    results.back().label.clear();  // all columns have the same label
  }
  return results;
}

// The models are also scored, once, on sequences with eight times as many instructions as in training. The results are
// in RUN/longer.json.
constexpr int64_t kLonger = 2048;
constexpr char kLongerFile[] = "longer.json";

void ScoreLonger(const std::vector<SweepRun>& runs) {
  SetUpComputing(0);
  for (const SweepRun& each : runs) {
    const std::string path = each.folder + "/" + kLongerFile;
    if (std::filesystem::exists(path)) continue;
    const LoadedRun run = LoadRun(each.folder, at::kCPU, PrintWarning);
    const RunData data(run.config);
    EvaluateOptions options;
    options.most = run.config.eval.quick_examples;
    options.splits = {"iid", "sparse"};
    options.lengths = Range{kLonger, kLonger};
    WriteResults(path,
                 MakeResults(run.config, data, run.step, Evaluate(*run.model, data, run.config, options), options));
  }
}

Table LongerTable(const std::vector<SweepRun>& runs) {
  const std::string lengths = std::to_string(kLonger) + "-" + std::to_string(kLonger);
  TableSpec spec = {
      "longer",
      "The same models on " + std::to_string(kLonger) + " instructions, eight times as many as in training",
      {{"Flip-flop IID", {"flipflop", lengths, "", 0, "em"}},
       {"Flip-flop OOD (sparse)", {"flipflop", "sparse " + lengths, "", 0, "em"}}}};
  return BuildTable(spec, ReadAll(runs, kLongerFile), {});
}

Table DemoTable(const std::vector<SweepRun>& runs) {
  TableSpec spec = PaperTables().front();
  spec.name = "demo";
  spec.title = "Flip-flop, exact match in percent; solved: 100 on all three sets, with the 95% interval of how often";
  spec.lines.erase(std::remove_if(spec.lines.begin(), spec.lines.end(),
                                  [](const LineSpec& line) { return line.measure.task != "flipflop"; }),
                   spec.lines.end());
  spec.lines.back().label = "Solved";
  return BuildTable(spec, ReadAll(runs, run_files::kResults), {});
}

void Report(const Request& request, const std::vector<SweepRun>& runs) {
  Output out("");
  out.Line("");
  out.Write(RenderTables({DemoTable(runs), LongerTable(runs)}, "md"));
  out.Line("");
  out.Line("What to look for: a sequence counts only if every bit read in it is right. IID is like training. In the");
  out.Line("sparse set writes are far apart, in the dense set close by: a model that has found the rule (attend to");
  out.Line("the last w, ignore all else) is right on all three; one that leans on the distances it has seen is not.");
  out.Line("docs/reliability.md has ten seeds of each, other rates, wirings and numbers of heads.");
  out.Line("");
  out.Line("Runs: " + request.folder +
           "/ATTENTION-sSEED: metrics.jsonl, results.json, checkpoints, TensorBoard events.");
  out.Line("Figure: " + DrawCurves(request) + ": exact match during training; open it in a browser.");
  out.Line("Next: tra eval " + RunFolder(request, "tra", 1) + " --lengths 8192 --examples 10   # 32 times as long");
  out.Finish();
}

int RunDemo(const Request& request) {
  const auto began = std::chrono::steady_clock::now();
  const std::vector<SweepRun> runs = PlanRuns(request);
  const RunConfig config = ParseConfig(kDemoConfig, request.set, "configs/demo.toml");
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int jobs = std::min(request.jobs > 0 ? request.jobs : cores, static_cast<int>(runs.size()));
  Progress say(false);
  say.Notice("training TRA, RoPE and FoT on flip-flop, " + std::to_string(request.seeds) + " seeds each: layers " +
             std::to_string(config.model.layers) + ", heads " + std::to_string(config.model.heads) + ", width " +
             std::to_string(config.model.width) + ", " + std::to_string(config.train.steps) + " steps of " +
             std::to_string(config.train.batch) + " sequences; " + std::to_string(jobs) + " runs at a time");
  // One thread per run, so that the digits do not depend on the number of cores.
  const JobsEnd end = RunJobs(runs, jobs, Computing());
  if (end.stopped) {
    say.Notice("stopped and saved; tra demo continues from here");
    return kStoppedOnRequest;
  }
  if (end.failed > 0) {
    say.Notice(std::to_string(end.failed) + " of " + std::to_string(runs.size()) +
               " runs failed; the reasons are above");
    return 1;
  }
  say.Notice("scoring all models on " + std::to_string(kLonger) + " instructions");
  ScoreLonger(runs);
  Report(request, runs);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  say.Notice("the whole demo took " + DurationText(took.count()));
  return 0;
}

}  // namespace

void AddDemo(CLI::App& app) {
  CLI::App* command = app.add_subcommand("demo", "Compare TRA with RoPE and FoT on flip-flop within minutes");
  auto request = std::make_shared<Request>();
  command->add_option("--folder", request->folder, "folder of the runs; those that are done are not trained again")
      ->capture_default_str();
  command->add_option("--seeds", request->seeds, "number of seeds per attention")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--jobs", request->jobs,
                   "runs at a time, with one thread each; as many as there are cores by default")
      ->check(CLI::Range(1, 4096));
  command->add_option("--set", request->set, "change a key of configs/demo.toml in all runs")->allow_extra_args(false);
  command->footer("Example: tra demo");
  command->callback([request] { EndWith(RunDemo(*request)); });
}

}  // namespace tra::cli
