// tra report: makes one page of everything that is known about the runs of a sweep.
#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/base/text.h"
#include "tra/cli/charted_run.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/report_heatmaps.h"
#include "tra/cli/runtime.h"
#include "tra/cli/whole_number.h"
#include "tra/inspect/analysis.h"
#include "tra/ops/error_message.h"
#include "tra/report/page.h"
#include "tra/report/render.h"
#include "tra/report/run_charts.h"
#include "tra/report/specs.h"
#include "tra/report/tables.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"
#include "tra/run/find_runs.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::vector<std::string> runs;
  std::string out, title;
  HeatmapChoice heatmaps;
  int64_t looked_at = 12;
  int threads = 0;
};

std::string FirstLine(const std::string& path) {
  const std::string text = ReadFileIfAny(path, uint64_t{1} << 20).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string TroubleOf(const std::string& folder) {
  const std::string failed = run_files::In(folder, run_files::kFailed);
  if (fs::exists(failed)) return "failed: " + FirstLine(failed);
  return fs::exists(run_files::In(folder, run_files::kResults)) ? "" : "not finished";
}

// Adds every key of a run's configuration, or says why it cannot be read.
void AddConfig(ReportedRun& run) {
  const std::optional<RunConfig> read = ReadConfigIfThere(run.folder, &run.config_trouble);
  if (!read) return;
  RunConfig config = *read, usual = ParseConfig("", {"model.preset=" + config.preset}, "the defaults");
  const std::vector<ConfigKey> keys = ConfigKeys(config), defaults = ConfigKeys(usual);
  for (size_t i = 0; i < keys.size(); ++i) {
    run.config.push_back({keys[i].name, keys[i].get(), defaults[i].get(), keys[i].doc});
  }
}

nlohmann::ordered_json EnvironmentOf(const std::string& folder) {
  const auto text = ReadFileIfAny(run_files::In(folder, run_files::kEnvironment), kMostJsonBytes);
  auto json = ParseJsonIfAny<nlohmann::ordered_json>(text.value_or(""));
  return json.is_object() ? json : nlohmann::ordered_json(nullptr);
}

// Returns the paper's tables that have results, the success rates, and all numbers if none of these shows any.
std::vector<Table> TablesOf(const std::vector<ChartedRun>& runs) {
  std::vector<RunResults> results;
  for (const ChartedRun& run : runs) {
    if (!run.results.rows.empty()) results.push_back(run.results);
  }
  TableOptions options;
  options.paper = true;
  std::vector<Table> tables;
  const auto add = [&](const TableSpec& spec) {
    Table table = BuildTable(spec, results, options);
    if (table.columns.empty()) return;
    // The paper's numbers belong beside ours; lines of tasks that were not run would only be in the way.
    const auto empty = [](const TableLine& line) {
      return std::all_of(line.cells.begin(), line.cells.end(), [](const Cell& cell) { return cell.summary.n == 0; });
    };
    table.lines.erase(std::remove_if(table.lines.begin(), table.lines.end(), empty), table.lines.end());
    tables.push_back(std::move(table));
  };
  for (const TableSpec& spec : PaperTables()) add(spec);
  const TableSpec solved = SolvedTable(results);
  if (!solved.lines.empty()) add(solved);
  if (tables.empty()) add(GenericTable(results));
  return tables;
}

// Returns every chart for which the runs of a task have numbers.
std::vector<Chart> ChartsOf(const std::vector<ChartedRun>& runs) {
  std::map<std::string, std::vector<ChartedRun>> tasks;
  for (const ChartedRun& run : runs) tasks[run.results.task].push_back(run);
  std::vector<Chart> charts;
  const auto add = [&](Chart chart) {
    if (!chart.panels.empty()) charts.push_back(std::move(chart));
  };
  for (const auto& [task, of] : tasks) {
    for (const ChartKind& kind : ChartKinds()) {
      add(kind.draw(of, {}));
      if (kind.name != std::string("curves")) continue;
      const bool has_loss =
          std::any_of(of.begin(), of.end(), [](const ChartedRun& run) { return run.curves.count("train/loss") > 0; });
      const bool is_shown = !charts.empty() && charts.back().y.label == "loss";
      ChartOptions loss;
      loss.metrics = {"train/loss"};
      if (has_loss && !is_shown) add(kind.draw(of, loss));
    }
  }
  return charts;
}

std::string SettingOf(const RunResults& results) {
  return results.task + ", " + Column{results.attention, results.label}.Title();
}

std::vector<const ReportedRun*> InTableOrder(const std::vector<ReportedRun>& runs) {
  std::vector<const ReportedRun*> ordered;
  for (const ReportedRun& run : runs) ordered.push_back(&run);
  std::stable_sort(ordered.begin(), ordered.end(), [](const ReportedRun* a, const ReportedRun* b) {
    if (a->results.task != b->results.task) return a->results.task < b->results.task;
    return InPaperOrder()({a->results.attention, a->results.label}, {b->results.attention, b->results.label});
  });
  return ordered;
}

// Looks into one run of each setting: the first that has weights.
void LookInside(const Request& request, const std::vector<ReportedRun>& runs, Report& report) {
  AnalyzeOptions options;
  // Few and short: a report must not take minutes. tra analyze looks longer.
  options.examples = 4;
  options.factors = {1, 4};
  options.over_training = false;
  std::set<std::string> settings, seen;
  int64_t left_out = 0;
  for (const ReportedRun* each : InTableOrder(runs)) {
    const ReportedRun& run = *each;
    const std::string setting = SettingOf(run.results);
    settings.insert(setting);
    if (seen.count(setting) > 0 || !HasCheckpoints(run.folder)) continue;
    seen.insert(setting);
    if (static_cast<int64_t>(report.heatmaps.size()) >= request.looked_at) {
      ++left_out;
      continue;
    }
    const std::string title = setting + ", seed " + std::to_string(run.results.seed);
    try {
      InspectedRun inspected(run.folder, at::kCPU, PrintWarning);
      report.heatmaps.push_back(DrawHeatmaps(inspected, title, request.heatmaps));
      report.analyses.push_back(AnalyzeRun(inspected, options));
    } catch (const std::exception& error) {  // the rest of the report is still worth having
      report.heatmaps_note += title + " cannot be looked into: " + ErrorMessage(error) + ". ";
    }
  }
  if (seen.empty()) {
    report.heatmaps_note +=
        "None of these runs has checkpoints here, so their heads cannot be shown. Results are kept without weights "
        "where "
        "those are large; a run that is trained again has them.";
    report.analysis_note = report.heatmaps_note;
    return;
  }
  report.analysis_note = "The same runs, by tra analyze, which also looks at every checkpoint and draws.";
  report.heatmaps_note += "One run of each setting, with the weights of its newest checkpoint.";
  if (seen.size() < settings.size()) {
    report.heatmaps_note += " " + std::to_string(settings.size() - seen.size()) + " of " +
                            std::to_string(settings.size()) + " settings have no run with checkpoints here.";
  }
  if (left_out > 0) {
    report.heatmaps_note +=
        " Settings after the first " + std::to_string(request.looked_at) + " are left out; --looks shows more of them.";
  }
}

// Returns the command as it would be typed, whatever the program's own path.
std::string CommandOf(const Request& request) {
  const auto quoted = [](const std::string& text) {
    const bool plain =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=+,:-") ==
        std::string::npos;
    return plain && !text.empty() ? text : ShellQuoted(text);
  };
  std::string command = "tra report";
  for (const std::string& path : request.runs) command += " " + quoted(path);
  return command + " --out " + quoted(fs::path(request.out).filename().string());
}

void MakeReport(const Request& request) {
  const std::string ending = fs::path(request.out).extension().string();
  if (ending != ".html" && ending != ".htm") {
    throw std::invalid_argument(request.out + ": a report is a page; end the name in .html");
  }
  Output out(request.out);  // now, so that a missing folder is said before the work
  SetUpComputing(request.threads);
  const std::vector<std::string> folders = FindRuns(request.runs);
  const std::vector<ChartedRun> runs = ReadChartedRuns(folders);
  Report report;
  for (size_t at = 0; at < runs.size(); ++at) {
    ReportedRun run;
    run.results = runs[at].results;
    run.folder = folders[at];
    run.trouble = TroubleOf(folders[at]);
    run.environment = EnvironmentOf(folders[at]);
    AddConfig(run);
    report.runs.push_back(std::move(run));
  }
  report.title = request.title;
  if (report.title.empty()) {
    for (const std::string& path : request.runs) report.title += (report.title.empty() ? "" : ", ") + path;
  }
  report.command = CommandOf(request);
  report.tables = TablesOf(runs);
  report.charts = ChartsOf(runs);
  LookInside(request, report.runs, report);
  out.Write(ReportPage(report));
  out.Finish();
}

}  // namespace

void AddReport(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "Make one page of runs: tables, charts, heatmaps, configurations, machines");
  auto request = std::make_shared<Request>();
  command->add_option("runs", request->runs, "folders of runs, or sweeps (their folder or TOML file)")->required();
  command->add_option("-o,--out", request->out, "the page to write, .html; it needs no network and no other file")
      ->required();
  command->add_option("--title", request->title, "instead of the folders");
  command->add_option("--example", request->heatmaps.example, "the example that heatmaps show")
      ->check(WholeNumber(0, kMostIndex))
      ->capture_default_str();
  command->add_option("--tokens", request->heatmaps.tokens, "most tokens of it")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  command->add_option("--heads", request->heatmaps.heads, "most heads of a run")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--looks", request->looked_at, "most runs to look into, one of each setting; 0: none")
      ->check(WholeNumber(0, kMostExamples))
      ->capture_default_str();
  AddThreadsOption(*command, request->threads);
  command->footer("Example: tra report results/two-cores/table1 -o report.html");
  command->callback([request] { MakeReport(*request); });
}

}  // namespace tra::cli
