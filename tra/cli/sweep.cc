// tra sweep: many runs, several at a time.
#include "tra/run/sweep.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/run/config.h"
#include "tra/run/data.h"
#include "tra/run/directory.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::string file, slurm, time = "24:00:00";
  std::vector<std::string> set;
  int jobs = 1, threads = 0, index = -1;
  bool list = false;
};

std::string Program() { return fs::read_symlink("/proc/self/exe").string(); }

std::vector<std::string> TrainArguments(const SweepRun& run, int threads) {
  std::vector<std::string> arguments = {Program(),  "train",    run.config,  "--run",
                                        run.folder, "--resume", "--threads", std::to_string(threads)};
  for (const std::string& each : run.overrides) arguments.insert(arguments.end(), {"--set", each});
  return arguments;
}

std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What a run says goes to a log beside its folder.
pid_t Start(const SweepRun& run, int threads) {
  std::vector<std::string> arguments = TrainArguments(run, threads);
  const std::vector<char*> pointers = Pointers(arguments);
  const std::string log = run.folder + ".log";
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process can be started for " + run.name);
  if (pid == 0) {
    // A process group of its own: Ctrl-C reaches the sweep, which tells its runs once.
    setpgid(0, 0);
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd >= 0) {
      dup2(fd, STDOUT_FILENO);
      dup2(fd, STDERR_FILENO);
    }
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  return pid;
}

enum class State : uint8_t { kWaiting, kRunning, kDone, kFailed, kStopped };
constexpr const char* kStateNames[] = {"waiting", "running", "done", "failed", "stopped"};

struct Job {
  const SweepRun* run;
  State state = State::kWaiting;
  pid_t pid = 0;
  int64_t steps = 0;
};

// The last whole line of metrics.jsonl with a loss, from its end.
std::string LastStep(const Job& job) {
  std::ifstream file(job.run->folder + "/metrics.jsonl", std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<int64_t>(file.tellg());
  const int64_t from = std::max<int64_t>(0, size - 16384);
  file.seekg(from);
  std::string text(static_cast<size_t>(size - from), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::string said;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    const auto line = nlohmann::json::parse(text.substr(begin, end - begin), nullptr, false);
    if (line.is_discarded() || !line.contains("train/loss") || !line["train/loss"].is_number()) continue;
    char about[96];
    std::snprintf(about, sizeof(about), "step %lld/%lld, loss %.4f",
                  static_cast<long long>(line["step"].get<int64_t>()), static_cast<long long>(job.steps),
                  line["train/loss"].get<double>());
    said = about;
  }
  return said;
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string About(const Job& job) {
  const std::string name = job.run->name + std::string(job.run->name.size() < 28 ? 28 - job.run->name.size() : 1, ' ');
  std::string text = name + kStateNames[static_cast<size_t>(job.state)];
  if (job.state == State::kRunning || job.state == State::kStopped) text += "  " + LastStep(job);
  if (job.state == State::kFailed) text += "  " + FirstLine(job.run->folder + "/FAILED");
  return text;
}

class Board {
 public:
  explicit Board(const std::vector<Job>& jobs) : jobs_(jobs), terminal_(isatty(STDERR_FILENO) != 0) {}

  // On a terminal all runs, written over; elsewhere a line for each change.
  void Show() {
    if (terminal_) {
      if (lines_ > 0) std::cerr << "\033[" << lines_ << "A";
      for (const Job& job : jobs_) std::cerr << "\033[K" << About(job).substr(0, 110) << "\n";
      lines_ = jobs_.size();
    }
    std::cerr << std::flush;
  }
  void Changed(const Job& job) const {
    if (!terminal_) std::cerr << About(job) << "\n";
  }

 private:
  const std::vector<Job>& jobs_;
  bool terminal_;
  size_t lines_ = 0;
};

State EndOf(const Job& job, int status) {
  if (IsDone(job.run->folder)) return State::kDone;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kStoppedOnRequest) return State::kStopped;
  return State::kFailed;
}

int RunJobs(const Sweep& sweep, int jobs_at_once, int threads) {
  fs::create_directories(sweep.folder);
  std::vector<Job> jobs;
  for (const SweepRun& run : sweep.runs) {
    Job job{&run};
    job.steps = ReadConfig(run.config, run.overrides).train.steps;
    if (IsDone(run.folder)) job.state = State::kDone;
    jobs.push_back(job);
  }
  CatchStopSignals();
  Board board(jobs);
  bool told = false;
  while (true) {
    int running = 0;
    for (Job& job : jobs) {
      if (job.state != State::kRunning) continue;
      int status = 0;
      if (waitpid(job.pid, &status, WNOHANG) == job.pid) {
        job.state = EndOf(job, status);
        board.Changed(job);
      } else {
        ++running;
      }
    }
    if (StopRequested() && !told) {
      for (const Job& job : jobs) {
        if (job.state == State::kRunning) kill(job.pid, SIGTERM);
      }
      told = true;
    }
    for (Job& job : jobs) {
      if (told || running >= jobs_at_once || job.state != State::kWaiting) continue;
      job.pid = Start(*job.run, threads);
      job.state = State::kRunning;
      ++running;
      board.Changed(job);
    }
    board.Show();
    if (running == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  size_t done = 0, failed = 0;
  for (const Job& job : jobs) {
    done += job.state == State::kDone ? 1 : 0;
    failed += job.state == State::kFailed ? 1 : 0;
  }
  std::cerr << "tra: " << done << " of " << jobs.size() << " runs done, " << failed << " failed; tables: tra table "
            << sweep.folder << "\n";
  if (told) return kStoppedOnRequest;
  return failed > 0 ? 1 : 0;
}

// What the runs of a configuration would all stumble over.
void CheckConfigurations(const Sweep& sweep) {
  std::set<std::string> seen;
  for (const SweepRun& run : sweep.runs) {
    if (seen.insert(run.config).second) CheckData(ReadConfig(run.config, run.overrides));
  }
}

int RunSweep(const Request& request) {
  const Sweep sweep = ReadSweep(request.file, request.set);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int threads = request.threads > 0 ? request.threads : std::max(1, cores / request.jobs);
  if (!request.slurm.empty()) {
    CheckConfigurations(sweep);
    fs::create_directories(sweep.folder);  // sbatch wants it there for its logs
    WriteWhole(request.slurm, SlurmScript(sweep, Program(), request.threads > 0 ? request.threads : 4, request.time));
    std::cerr << "tra: " << sweep.runs.size() << " runs; submit with: sbatch " << request.slurm << "\n";
    return 0;
  }
  if (request.list) {
    for (size_t i = 0; i < sweep.runs.size(); ++i) {
      std::cout << i << "  " << sweep.runs[i].name << (IsDone(sweep.runs[i].folder) ? "  done" : "") << "\n";
    }
    return 0;
  }
  if (request.index >= 0) {
    if (request.index >= static_cast<int>(sweep.runs.size())) {
      throw std::invalid_argument("--index must be below " + std::to_string(sweep.runs.size()) + ", got " +
                                  std::to_string(request.index));
    }
    // In the place of this process, so that signals reach the run itself.
    const SweepRun& run = sweep.runs[static_cast<size_t>(request.index)];
    std::vector<std::string> arguments = TrainArguments(run, threads);
    const std::vector<char*> pointers = Pointers(arguments);
    execv(pointers[0], pointers.data());
    throw std::runtime_error("cannot start " + arguments[0]);
  }
  CheckConfigurations(sweep);
  return RunJobs(sweep, request.jobs, threads);
}

}  // namespace

void AddSweep(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("sweep", "Many runs from one file: configurations x attentions x seeds");
  auto request = std::make_shared<Request>();
  command->add_option("sweep", request->file, "TOML file: configs, attentions, seeds, set, folder")->required();
  command->add_option("--jobs", request->jobs, "runs at a time; they share the cores")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--threads", request->threads, "of each run; cores / jobs by default")
      ->check(CLI::Range(1, 4096));
  command->add_option("--set", request->set, "change a key in all runs");
  command->add_flag("--list", request->list, "only list the runs");
  command->add_option("--index", request->index, "only this run of the list, as a job array does")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--slurm", request->slurm, "only write a script for sbatch to this file: one run an index");
  command->add_option("--time", request->time, "limit of a run in that script")->capture_default_str();
  command->footer(
      "Example: tra sweep configs/sweeps/small.toml --jobs 2\n"
      "Runs that are done are skipped, others go on where they were; one that fails does not stop the rest.");
  command->callback([request, &exit_code] { exit_code = RunSweep(*request); });
}

}  // namespace tra::cli
