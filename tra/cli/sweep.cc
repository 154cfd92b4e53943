// tra sweep: many runs, several at a time.
#include "tra/run/sweep.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tra/cli/commands.h"
#include "tra/cli/device.h"
#include "tra/cli/output.h"
#include "tra/cli/runtime.h"
#include "tra/cli/sweep_board.h"
#include "tra/run/config.h"
#include "tra/run/data.h"
#include "tra/run/directory.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;
using State = SweepJob::State;

struct Request {
  std::string file, slurm, device, time = "24:00:00";
  std::vector<std::string> set;
  int jobs = 1, threads = 0, index = -1;
  bool list = false;
};

std::string Program() { return fs::read_symlink("/proc/self/exe").string(); }

// What a run computes with.
struct Computing {
  int threads = 1;
  std::string device;
};

std::vector<std::string> TrainArguments(const SweepRun& run, const Computing& with) {
  std::vector<std::string> arguments = {Program(),  "train",    run.config,  "--run",
                                        run.folder, "--resume", "--threads", std::to_string(with.threads)};
  if (!with.device.empty()) arguments.insert(arguments.end(), {"--device", with.device});
  for (const std::string& each : run.overrides) arguments.insert(arguments.end(), {"--set", each});
  return arguments;
}

std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What a run says goes to a log beside its folder.
std::string LogOf(const SweepRun& run) { return run.folder + ".log"; }

// While it lives, signals to stop wait: between fork and exec a child has the sweep's handlers, which would swallow
// what is meant for the run.
class StopSignalsWait {
 public:
  StopSignalsWait() {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, &before_);
  }
  ~StopSignalsWait() { End(); }
  StopSignalsWait(const StopSignalsWait&) = delete;
  StopSignalsWait& operator=(const StopSignalsWait&) = delete;

  void End() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Minus one if there can be no process.
pid_t StartProcess(const SweepRun& run, const Computing& with) {
  // All that takes memory is done before the fork.
  std::vector<std::string> arguments = TrainArguments(run, with);
  const std::vector<char*> pointers = Pointers(arguments);
  const std::string log = LogOf(run);
  const std::string missing = "tra: cannot start " + arguments[0] + "; if it was built anew, start the sweep again\n";
  const StopSignalsWait signals;
  const pid_t pid = fork();
  if (pid != 0) return pid;
  // A process group of its own: Ctrl-C reaches the sweep, which tells its runs once.
  setpgid(0, 0);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  signals.End();
  execv(pointers[0], pointers.data());
  if (write(STDERR_FILENO, missing.data(), missing.size()) < 0) _exit(126);
  _exit(127);
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t SizeOf(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(path, none);
  return none ? 0 : static_cast<int64_t>(size);
}

// The last line that is not empty, behind so many bytes.
std::string LastLine(const std::string& path, int64_t behind) {
  constexpr int64_t kMost = 4096;
  std::ifstream file(path, std::ios::binary);
  file.seekg(std::max(behind, SizeOf(path) - kMost));
  std::string line, last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string HowItEnded(int status) {
  if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")" +
         (signal == SIGKILL ? ", for want of memory perhaps: try fewer --jobs" : "");
}

// The trainer's own reason, or what is known of a run that did not get so far or could not say it.
std::string WhyItFailed(const SweepJob& job, int status) {
  std::string said = FirstLine(job.run->folder + "/FAILED");
  if (!said.empty()) return said;
  const std::string log = LogOf(*job.run), last = LastLine(log, job.log_begin);
  return HowItEnded(status) + (last.empty() ? "" : ": " + last) + " (log: " + log + ")";
}

bool DiedOfTheStop(int status) {
  return StopRequested() && WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT);
}

State EndOf(const SweepJob& job, int status) {
  if (IsDone(job.run->folder)) return State::kDone;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kStoppedOnRequest) return State::kStopped;
  return DiedOfTheStop(status) ? State::kStopped : State::kFailed;  // a run that still loads does not catch signals
}

std::vector<SweepJob> JobsOf(const Sweep& sweep) {
  std::vector<SweepJob> jobs;
  for (const SweepRun& run : sweep.runs) {
    SweepJob job;
    job.run = &run;
    job.steps = ReadConfig(run.config, run.overrides).train.steps;
    if (IsDone(run.folder)) job.state = State::kDone;
    jobs.push_back(job);
  }
  return jobs;
}

class Runner {
 public:
  Runner(const Sweep& sweep, int at_once, Computing with)
      : jobs_(JobsOf(sweep)), board_(jobs_), at_once_(static_cast<size_t>(at_once)), with_(std::move(with)) {}

  void Run() {
    while (true) {
      LookForEnded();
      if (StopRequested() && !told_) TellToStop();
      if (!told_) StartWaiting();
      board_.Show();
      if (Count(jobs_, State::kRunning) == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    board_.Finish();
  }

  bool stopped() const { return told_; }
  const std::vector<SweepJob>& jobs() const { return jobs_; }

 private:
  void LookForEnded() {
    for (SweepJob& job : jobs_) {
      int status = 0;
      if (job.state != State::kRunning || waitpid(job.pid, &status, WNOHANG) != job.pid) continue;
      job.state = EndOf(job, status);
      if (job.state == State::kFailed) job.reason = WhyItFailed(job, status);
      board_.Changed(job);
    }
  }

  void TellToStop() {
    for (const SweepJob& job : jobs_) {
      if (job.state == State::kRunning) kill(job.pid, SIGTERM);
    }
    told_ = true;
  }

  void StartWaiting() {
    size_t running = Count(jobs_, State::kRunning);
    for (SweepJob& job : jobs_) {
      if (running >= at_once_ || job.state != State::kWaiting) continue;
      Start(job);
      running += job.state == State::kRunning ? 1 : 0;
      board_.Changed(job);
    }
  }

  void Start(SweepJob& job) const {
    std::error_code none;
    fs::remove(job.run->folder + "/FAILED", none);  // the reason of an earlier attempt is not this one's
    job.log_begin = SizeOf(LogOf(*job.run));
    job.pid = StartProcess(*job.run, with_);
    job.state = job.pid > 0 ? State::kRunning : State::kFailed;
    if (job.pid <= 0) job.reason = "no process can be started: try fewer --jobs, or wait until others have ended";
  }

  std::vector<SweepJob> jobs_;
  SweepBoard board_;
  size_t at_once_;
  Computing with_;
  bool told_ = false;
};

int RunJobs(const Sweep& sweep, int at_once, const Computing& with) {
  fs::create_directories(sweep.folder);
  CatchStopSignals();
  Runner runner(sweep, at_once, with);
  runner.Run();
  const size_t done = Count(runner.jobs(), State::kDone), failed = Count(runner.jobs(), State::kFailed);
  std::cerr << "tra: " << done << " of " << sweep.runs.size() << " runs done, " << failed << " failed"
            << (runner.stopped() ? "; stopped, the same command goes on" : "") << "; tables: tra table " << sweep.folder
            << "\n";
  if (runner.stopped()) return kStoppedOnRequest;
  return failed > 0 ? 1 : 0;
}

// What the runs of a configuration with an attention would all stumble over.
void CheckConfigurations(const Sweep& sweep) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const SweepRun& run : sweep.runs) {
    const RunConfig config = ReadConfig(run.config, run.overrides);
    if (!seen.emplace(run.config, config.model.attention).second) continue;
    try {
      CheckRun(config);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(run.name + ": " + error.what());
    }
  }
}

// How the run that a folder holds differs from the one it should hold; empty if it does not, or if nothing of it would
// be kept.
std::string OtherConfiguration(const SweepRun& run) {
  if (!IsRun(run.folder) || (!IsDone(run.folder) && !HasCheckpoints(run.folder))) return "";
  try {
    return ConfigDifferences(ReadConfig(run.config, run.overrides), ReadRunConfig(run.folder));
  } catch (const std::invalid_argument& error) {  // written by another version, or by hand
    return error.what();
  }
}

// Results of other settings must not pass for those of this sweep.
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
  const Computing with = {request.threads > 0 ? request.threads : std::max(1, cores / request.jobs), request.device};
  if (!request.slurm.empty()) {
    if (request.device.find(':') != std::string::npos) {
      throw std::invalid_argument("--device " + request.device + ": Slurm gives each run a GPU of its own; use cuda");
    }
    CheckConfigurations(sweep);
    CheckFolders(sweep);
    fs::create_directories(sweep.folder);  // sbatch wants it there for its logs
    SlurmOptions options;
    if (request.threads > 0) options.cores = request.threads;
    options.time = request.time;
    options.gpu = !request.device.empty() && request.device != "cpu";
    WriteWhole(request.slurm, SlurmScript(sweep, Program(), options));
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
    // In the place of this process, so that signals reach the run itself.
    const SweepRun& run = sweep.runs[static_cast<size_t>(request.index)];
    std::vector<std::string> arguments = TrainArguments(run, with);
    const std::vector<char*> pointers = Pointers(arguments);
    execv(pointers[0], pointers.data());
    throw std::runtime_error("cannot start " + arguments[0]);
  }
  FindDevice(request.device);  // now, rather than in every run
  CheckConfigurations(sweep);
  CheckFolders(sweep);
  if (request.jobs * with.threads > cores) {
    std::cerr << "tra: warning: " << request.jobs << " runs of " << with.threads << " threads on " << cores
              << " cores will wait for each other; give fewer --jobs or --threads\n";
  }
  return RunJobs(sweep, request.jobs, with);
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
  AddDeviceOption(*command, request->device);
  command->add_option("--set", request->set, "change a key in all runs")
      ->allow_extra_args(false);  // one value each time, lest it swallow the file
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
