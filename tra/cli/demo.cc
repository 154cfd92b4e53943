// tra demo: minutes on flip-flop, a two-layer one-head TRA beside RoPE and FoT.
#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/demo_config.h"  // configs/demo.toml
#include "tra/cli/output.h"
#include "tra/cli/progress.h"
#include "tra/cli/runtime.h"
#include "tra/report/chart.h"
#include "tra/report/curve.h"
#include "tra/report/paper.h"
#include "tra/report/render.h"
#include "tra/report/specs.h"
#include "tra/report/tables.h"
#include "tra/run/directory.h"
#include "tra/tasks/task.h"
#include "tra/train/trainer.h"

namespace tra::cli {
namespace {

struct Model {
  const char* attention;
  const char* lr;
};

// Each at a rate at which it learns what it is trained on: docs/training.md has what was tried.
constexpr Model kModels[] = {{"tra", "3e-4"}, {"rope", "1e-3"}, {"fot", "1e-3"}};

struct Request {
  std::string folder = "runs/demo";
  std::vector<std::string> set;
  int threads = 0;
};

std::string Title(const char* attention) { return kPaperAttentions[PaperOrder(attention)].title; }

// Exact match as training went, a panel a split. Its file's name.
std::string DrawCurves(const std::string& folder) {
  Chart chart;
  chart.title = "Flip-flop: exact match during training";
  chart.x_label = "step";
  chart.y_label = "exact match, %";
  chart.y_high = 100;
  for (const Split& split : FindTask("flipflop").splits) {
    if (split.name == std::string("train")) continue;
    Panel panel = {split.name, {}};
    for (const Model& model : kModels) {
      Series series = {Title(model.attention),
                       ReadCurve(folder + "/" + model.attention, "eval/" + panel.title + "/em")};
      for (auto& [step, value] : series.points) value *= 100;
      panel.series.push_back(std::move(series));
    }
    chart.panels.push_back(std::move(panel));
  }
  std::string path = folder + "/exact_match.svg";
  Output out(path);
  out.Write(ChartSvg(chart));
  out.Finish();
  return path;
}

void RequireSameSettings(const std::string& path, const RunConfig& config) {
  if (!HasCheckpoints(path)) return;
  const std::string differences = ConfigDifferences(config, ReadRunConfig(path));
  if (differences.empty()) return;
  throw std::invalid_argument(path + ": holds a demo of other settings: " + differences +
                              "; give this one another --folder, or move that one away");
}

int RunDemo(const Request& request) {
  const auto began = std::chrono::steady_clock::now();
  SetUpComputing(request.threads);
  CatchStopSignals();
  const std::unique_ptr<Replicas> alone = Replicas::FromEnvironment();
  std::vector<RunResults> results;
  for (const auto& [attention, lr] : kModels) {
    std::vector<std::string> overrides = {"train.lr=" + std::string(lr)};
    overrides.insert(overrides.end(), request.set.begin(), request.set.end());
    overrides.push_back("model.attention=" + std::string(attention));
    const RunConfig config = ParseConfig(kDemoConfig, overrides, "configs/demo.toml");
    const std::string path = request.folder + "/" + attention;
    RequireSameSettings(path, config);
    RunDirectory run(path, config, RunDirectory::Start::kResume);
    Progress progress(false);
    progress.Notice("training " + Title(attention) + ", layers " + std::to_string(config.model.layers) + ", heads " +
                    std::to_string(config.model.heads) + ", width " + std::to_string(config.model.width) +
                    ", on flip-flop at a rate of " + nlohmann::json(config.train.lr).dump() + ", in " + path);
    if (!IsDone(path) && Train(config, &run, *alone, progress.Hooks()) == Ended::kStopped) {
      progress.Notice("stopped and saved; tra demo goes on from here");
      return kStoppedOnRequest;
    }
    results.push_back(ReadResults(path + "/results.json"));
    results.back().label.clear();  // all of its columns are the demo's
  }
  TableSpec spec = PaperTables().front();
  spec.name = "demo";
  spec.title = "Flip-flop, exact match in percent";
  spec.lines.erase(std::remove_if(spec.lines.begin(), spec.lines.end(),
                                  [](const LineSpec& line) { return line.measure.task != "flipflop"; }),
                   spec.lines.end());
  Output out("");
  out.Line("");
  out.Write(RenderTables({BuildTable(spec, results, {})}, "md"));
  out.Line("");
  out.Line("What to look for: a sequence counts only if every bit read in it is right. IID is like training. In the");
  out.Line(
      "sparse set writes are far apart, in the dense set they crowd: a model that has found the rule (attend to the");
  out.Line(
      "last w, ignore all else) is right on all three; one that leans on the distances it has seen is not. This is");
  out.Line(
      "one seed of a very small model after a short training, and seeds differ much (docs/training.md); tra sweep");
  out.Line("takes several, and the paper's sizes.");
  out.Line("");
  out.Line("Runs: " + request.folder +
           "/{tra,rope,fot}: metrics.jsonl, results.json, checkpoints, TensorBoard events.");
  out.Line("Figure: " + DrawCurves(request.folder) + ", how exact match went during training, for a browser.");
  out.Line("Next: tra eval " + request.folder +
           "/tra --lengths 1000 --examples 100   # four times the training length");
  out.Finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  Progress(false).Notice("all of it took " + DurationText(took.count()));
  return 0;
}

}  // namespace

void AddDemo(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("demo", "A comparison in minutes: TRA beside RoPE and FoT on flip-flop");
  auto request = std::make_shared<Request>();
  command->add_option("--folder", request->folder, "of the runs; those that are done are not trained again")
      ->capture_default_str();
  command->add_option("--set", request->set, "change a key of configs/demo.toml in all three")->allow_extra_args(false);
  AddThreadsOption(*command, request->threads);
  command->footer("Example: tra demo");
  command->callback([request, &exit_code] { exit_code = RunDemo(*request); });
}

}  // namespace tra::cli
