// tra analyze: shows what the heads of trained models do: how sparse they are, how they decay, whether they keep the
// evidence of the answers, and whether irrelevant tokens change that.
#include <CLI/App.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/cli/whole_number.h"
#include "tra/inspect/analysis.h"
#include "tra/report/analysis.h"
#include "tra/report/analysis_charts.h"
#include "tra/run/directory.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::vector<std::string> runs;
  AnalyzeOptions options;
  std::string out;
  bool json = false;
  int threads = 0;
};

// Writes a file into the folder, whole or not at all.
void WriteInto(const std::string& folder, const std::string& name, const std::string& text) {
  WriteWhole((fs::path(folder) / name).string(), text);
}

// Writes the analyses as text and as JSON, and what can be drawn of them.
void WriteFolder(const std::string& folder, const std::vector<Analysis>& runs) {
  fs::create_directories(folder);
  WriteInto(folder, "analysis.md", AnalysisMarkdown(runs));
  WriteInto(folder, "analysis.json", ToJson(runs).dump(2) + "\n");
  for (const NamedChart& each : AnalysisCharts(runs)) WriteInto(folder, each.name + ".svg", ChartSvg(each.chart));
}

void RunAnalyze(Request& request) {
  const bool file = request.out.empty() || request.out == "-" || fs::path(request.out).has_extension();
  Output out(file ? request.out : "");  // now, so that a missing folder is said before the work
  SetUpComputing(request.threads);
  std::vector<Analysis> runs;
  for (const std::string& path : request.runs) {
    InspectedRun run(path, at::kCPU, PrintWarning);
    request.options.progress = [&](const std::string& what) { std::cerr << "tra: " << path << ": " << what << "\n"; };
    runs.push_back(AnalyzeRun(run, request.options));
  }
  const bool json = request.json || fs::path(request.out).extension() == ".json";
  if (!file) WriteFolder(request.out, runs);
  out.Write(json ? ToJson(runs).dump(2) + "\n" : AnalysisMarkdown(runs));
  out.Finish();
}

}  // namespace

void AddAnalyze(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("analyze", "Show what the heads of a model do: sparsity, decay, evidence, longer inputs");
  auto request = std::make_shared<Request>();
  AnalyzeOptions& options = request->options;
  command->add_option("runs", request->runs, "folders of runs")->required();
  command->add_option("--split", options.split,
                      "split to take examples of; iid, or the text that the run is scored on");
  command->add_option("--examples", options.examples, "examples, or windows of a text, to look at")
      ->check(WholeNumber(1, kMostExamples))
      ->capture_default_str();
  command
      ->add_option("--factors", options.factors,
                   "how many times as long to make the examples, by tokens that change no answer")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_flag("!--last-step", options.over_training,
                    "look at the evidence at the last step only, not also before training and at older checkpoints");
  command->add_flag("--json", request->json, "print JSON, for programs");
  command->add_option("--out", request->out,
                      "folder to write the tables, JSON and charts to; or a file, .md or .json, to write instead of "
                      "printing");
  AddThreadsOption(*command, request->threads);
  command->footer("Example: tra analyze runs/flipflop-tra-s1 --split sparse --out analysis");
  command->callback([request] { RunAnalyze(*request); });
}

}  // namespace tra::cli
