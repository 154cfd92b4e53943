// tra sweep: trains many runs, several at a time.
#include "tra/run/sweep.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <climits>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tra/cli/charted_run.h"
#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/program.h"
#include "tra/cli/run_jobs.h"
#include "tra/cli/runtime.h"
#include "tra/cli/whole_number.h"
#include "tra/report/render.h"
#include "tra/report/specs.h"
#include "tra/report/tables.h"
#include "tra/run/config.h"
#include "tra/run/data.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::string file, slurm, device, time = "24:00:00";
  std::vector<std::string> set;
  int jobs = 1, threads = 0, index = -1;
  bool list = false;
};

// Prints the scores of the runs that are done: a table for each task, with a row for each setting.
void Summarise(const Sweep& sweep) {
  std::vector<std::string> done;
  for (const SweepRun& run : sweep.runs) {
    const std::string results = run_files::In(run.folder, run_files::kResults);
    if (IsDone(run.folder) && fs::exists(results)) done.push_back(results);
  }
  if (done.empty()) return;
  const std::vector<RunResults> runs = ReadAllResults(done);
  std::set<std::string> tasks;
  for (const RunResults& run : runs) tasks.insert(run.task);
  std::vector<Table> tables;
  for (const std::string& task : tasks) tables.push_back(BuildTable(SummaryTable(task, runs), runs, {}));
  Output out("");
  out.Write(RenderTables(tables, "text"));
  out.Finish();
}

int RunAll(const Sweep& sweep, int at_once, const Computing& with) {
  const JobsEnd end = RunJobs(sweep.runs, at_once, with);
  try {
    Summarise(sweep);
  } catch (const std::exception& error) {  // the runs are what matters
    PrintWarning(std::string("no summary: ") + error.what());
  }
  std::cerr << "tra: " << end.done << " of " << sweep.runs.size() << " runs done, " << end.failed << " failed"
            << (end.stopped ? "; stopped, the same command continues" : "") << "; tables: tra table " << sweep.folder
            << "\n";
  if (end.stopped) return kStoppedOnRequest;
  return end.failed > 0 ? 1 : 0;
}

// Checks each configuration with each attention and setting once, before any of its runs would fail.
void CheckConfigurations(const Sweep& sweep) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const SweepRun& run : sweep.runs) {
    const RunConfig config = ReadConfig(run.config, run.overrides);
    if (!seen.emplace(run.config, config.model.attention, config.label).second) continue;
    try {
      CheckRun(config);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(run.name + ": " + error.what());
    }
  }
}

// Returns how the run in a folder differs from the one that should be there; empty if it does not, or if it has saved
// nothing.
std::string OtherConfiguration(const SweepRun& run) {
  if (!IsRun(run.folder) || (!IsDone(run.folder) && !HasCheckpoints(run.folder))) return "";
  try {
    return ConfigDifferences(ReadConfig(run.config, run.overrides), ReadRunConfig(run.folder));
  } catch (const std::invalid_argument& error) {  // written by another version, or by hand
    return error.what();
  }
}

// Throws if a folder holds a run of another configuration, whose results must not pass for those of this sweep.
void CheckFolders(const Sweep& sweep) {
  std::string first;
  size_t others = 0;
  for (const SweepRun& run : sweep.runs) {
    const std::string differences = OtherConfiguration(run);
    if (differences.empty()) continue;
    if (first.empty()) {
      first = run.folder + ": holds a run of another configuration: " + differences;
    } else {
      ++others;
    }
  }
  if (first.empty()) return;
  if (others > 0) first += ", and so do " + std::to_string(others) + " more (--list marks them)";
  throw std::invalid_argument(first + "; name another folder in " + sweep.file + ", or move that run away");
}

void ListRuns(const Sweep& sweep) {
  for (size_t i = 0; i < sweep.runs.size(); ++i) {
    const SweepRun& run = sweep.runs[i];
    const std::string differences = OtherConfiguration(run);
    std::cout << i << "  " << run.name;
    if (!differences.empty()) {
      std::cout << "  other configuration: " << differences;
    } else if (IsDone(run.folder)) {
      std::cout << "  done";
    }
    std::cout << "\n";
  }
}

int RunSweep(const Request& request) {
  const Sweep sweep = ReadSweep(request.file, request.set);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const Computing with = {request.threads > 0 ? request.threads : std::max(1, cores / request.jobs), request.device,
                          request.threads > 0};
  if (!request.slurm.empty()) {
    if (request.device.find(':') != std::string::npos) {
      throw std::invalid_argument("--device " + request.device + ": Slurm gives each run its own GPU; use cuda");
    }
    CheckConfigurations(sweep);
    CheckFolders(sweep);
    fs::create_directories(sweep.folder);  // sbatch needs it for its logs
    SlurmOptions options;
    if (request.threads > 0) options.cores = request.threads;
    options.time = request.time;
    options.gpu = !request.device.empty() && request.device != "cpu";
    WriteWhole(request.slurm, SlurmScript(sweep, ProgramPath(), options));
    std::cerr << "tra: " << sweep.runs.size() << " runs; submit with: sbatch " << request.slurm << "\n";
    return 0;
  }
  if (request.list) {
    ListRuns(sweep);
    return 0;
  }
  if (request.index >= 0) {
    if (request.index >= static_cast<int>(sweep.runs.size())) {
      throw std::invalid_argument("--index must be below " + std::to_string(sweep.runs.size()) + ", got " +
                                  std::to_string(request.index));
    }
    // The run replaces this process, so that signals reach it directly.
    const SweepRun& run = sweep.runs[static_cast<size_t>(request.index)];
    BecomeProcess(TrainArguments(run, with));
  }
  FindDevice(request.device);  // fails now, rather than in every run
  CheckConfigurations(sweep);
  CheckFolders(sweep);
  if (request.jobs * with.threads > cores) {
    std::cerr << "tra: warning: " << request.jobs << " runs of " << with.threads << " threads on " << cores
              << " cores will wait for each other; give fewer --jobs or --threads\n";
  }
  return RunAll(sweep, request.jobs, with);
}

}  // namespace

void AddSweep(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("sweep", "Train many runs from one file: configurations x attentions x settings x seeds");
  auto request = std::make_shared<Request>();
  command->add_option("sweep", request->file, "TOML file: configs, attentions, seeds, set, folder, [grid], [variants]")
      ->required();
  command->add_option("--jobs", request->jobs, "runs at a time; they share the cores")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--threads", request->threads, "threads per run; cores / jobs by default")
      ->check(CLI::Range(1, 4096));
  AddDeviceOption(*command, request->device);
  command->add_option("--set", request->set, "change a key in all runs")
      ->allow_extra_args(false);  // one value each time, or it would take the file as another
  command->add_flag("--list", request->list, "only list the runs");
  command->add_option("--index", request->index, "only this run of the list, as a job array does")
      ->check(WholeNumber(0, INT_MAX));
  command->add_option("--slurm", request->slurm, "only write a script for sbatch to this file: one run per index");
  command->add_option("--time", request->time, "time limit per run in that script")->capture_default_str();
  command->footer(
      "Example: tra sweep configs/sweeps/small.toml --jobs 2\n"
      "A sweep over any keys is a file such as this; configs are relative to it:\n"
      "  configs = [\"../small/flipflop.toml\"]\n"
      "  attentions = [\"tra\", \"rope\"]\n"
      "  seeds = [1, 2, 3]\n"
      "  folder = \"runs/heads-and-rates\"\n"
      "  [grid]                              # every combination\n"
      "  \"model.heads\" = [1, 4]\n"
      "  \"train.lr\" = [3e-4, 1e-3]\n"
      "  [variants]                          # and each of these\n"
      "  \"as it is\" = []\n"
      "  \"no dropout\" = [\"model.mlp_dropout=0\", \"model.attention_dropout=0\"]\n"
      "Tables tell the runs apart by what differs: tra table runs/heads-and-rates --table solved\n"
      "Runs that are done are skipped, others continue where they were; one that fails does not stop the rest.");
  command->callback([request] { EndWith(RunSweep(*request)); });
}

}  // namespace tra::cli
