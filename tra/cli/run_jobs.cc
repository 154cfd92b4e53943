#include "tra/cli/run_jobs.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tra/base/file_lock.h"
#include "tra/cli/program.h"
#include "tra/cli/runtime.h"
#include "tra/cli/sweep_board.h"
#include "tra/cli/sweep_process.h"
#include "tra/run/checkpoints.h"
#include "tra/run/config.h"
#include "tra/run/directory.h"
#include "tra/run/files.h"

namespace tra::cli {
namespace {

namespace fs = std::filesystem;
using State = SweepJob::State;

std::vector<char*> Pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the path of the log, beside the run's folder, that the run's output goes to.
std::string LogOf(const SweepRun& run) { return run.folder + ".log"; }

// Starts a run and returns the id of its process, or -1 if no process can be started.
pid_t StartProcess(const SweepRun& run, const Computing& with) {
  // Everything that allocates memory is done before the fork.
  std::vector<std::string> arguments = TrainArguments(run, with);
  const std::vector<char*> pointers = Pointers(arguments);
  const std::string log = LogOf(run);
  const std::string missing = "tra: cannot start " + arguments[0] + "; if it was rebuilt, start the sweep again\n";
  const sigset_t stop = StopSignals();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  // With its own process group the run does not get Ctrl-C, only the sweep does, which then signals its runs once.
  setpgid(0, 0);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // the sweep holds them back; what came meanwhile takes effect here
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

// Returns the last line that is not empty, after the first `behind` bytes.
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
         (signal == SIGKILL ? ", perhaps for lack of memory: try fewer --jobs" : "");
}

// Returns the reason that the trainer wrote, or what is known of a run that did not get that far or could not write it.
std::string WhyItFailed(const SweepJob& job, int status) {
  std::string said = FirstLine(run_files::In(job.run->folder, run_files::kFailed));
  if (!said.empty()) return said;
  const std::string log = LogOf(*job.run), last = LastLine(log, job.log_begin);
  return HowItEnded(status) + (last.empty() ? "" : ": " + last) + " (log: " + log + ")";
}

bool DiedOfTheStop(int status) {
  return StopRequested() && WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT);
}

// Says whether another process trains a run, such as one of a sweep that was killed a moment ago and now saves.
bool IsTrainedByAnother(const std::string& run) {
  const std::string lock = run_files::In(run, run_files::kLock);
  std::error_code none;  // then the run itself will say what is wrong
  return fs::exists(lock, none) && FileLock(lock, FileLock::Wait::kNo).HeldByAnother();
}

State EndOf(const SweepJob& job, int status) {
  if (IsDone(job.run->folder)) return State::kDone;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kStoppedOnRequest) return State::kStopped;
  return DiedOfTheStop(status) ? State::kStopped : State::kFailed;  // a run that still loads does not catch signals
}

std::vector<SweepJob> JobsOf(const std::vector<SweepRun>& runs) {
  std::vector<SweepJob> jobs;
  for (const SweepRun& run : runs) {
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
  Runner(const std::vector<SweepRun>& runs, int at_once, Computing with)
      : jobs_(JobsOf(runs)), board_(jobs_), at_once_(static_cast<size_t>(at_once)), with_(std::move(with)) {}

  void Run() {
    while (true) {
      LookForEnded();
      if (StopRequested() && !told_) TellToStop();
      if (!told_) StartWaiting();
      board_.Show();
      if (Count(jobs_, State::kRunning) == 0 && (told_ || Count(jobs_, State::kWaiting) == 0)) break;
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
      board_.Report(job);
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
      if (IsTrainedByAnother(job.run->folder)) {
        if (!WaitForOther(job)) board_.Report(job);
        continue;
      }
      job.state = IsDone(job.run->folder) ? State::kDone : job.state;  // the other process may have finished it
      if (job.state == State::kWaiting) Start(job);
      running += job.state == State::kRunning ? 1 : 0;
      board_.Report(job);
    }
  }

  // Gives a run that another process trains some time to save and end. Returns false, with the reason, once that is
  // over: it would say so itself, but in a log that the other process writes to as well.
  static bool WaitForOther(SweepJob& job) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kMost = std::chrono::seconds(5);
    if (job.held_since == Clock::time_point()) job.held_since = Clock::now();
    if (Clock::now() - job.held_since < kMost) return true;
    job.state = State::kFailed;
    job.reason = "another process is training in " + job.run->folder + "; wait for it, or stop it";
    return false;
  }

  void Start(SweepJob& job) const {
    std::error_code none;
    fs::remove(run_files::In(job.run->folder, run_files::kFailed),
               none);  // holds the reason of an earlier attempt, which is not this one's
    job.log_begin = SizeOf(LogOf(*job.run));
    job.began = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
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

}  // namespace

std::vector<std::string> TrainArguments(const SweepRun& run, const Computing& with) {
  // A run that has begun goes on as it was, unless the user says otherwise: other numbers of threads change its bits.
  const int threads = with.threads_given ? with.threads : RecordedThreads(run.folder).value_or(with.threads);
  std::vector<std::string> arguments = {ProgramPath(), "train",    run.config,  "--run",
                                        run.folder,    "--resume", "--threads", std::to_string(threads)};
  if (!with.device.empty()) arguments.insert(arguments.end(), {"--device", with.device});
  for (const std::string& each : run.overrides) arguments.insert(arguments.end(), {"--set", each});
  return arguments;
}

void BecomeProcess(std::vector<std::string> arguments) {
  const std::vector<char*> pointers = Pointers(arguments);
  execv(pointers[0], pointers.data());
  throw std::runtime_error("cannot start " + arguments[0]);
}

JobsEnd RunJobs(const std::vector<SweepRun>& runs, int at_once, const Computing& with) {
  for (const SweepRun& run : runs) {  // where their logs go
    const fs::path parent = fs::path(run.folder).parent_path();
    if (!parent.empty()) fs::create_directories(parent);
  }
  CatchStopSignals();
  AnnounceSweep();
  Runner runner(runs, at_once, with);
  runner.Run();
  return {Count(runner.jobs(), State::kDone), Count(runner.jobs(), State::kFailed), runner.stopped()};
}

}  // namespace tra::cli
