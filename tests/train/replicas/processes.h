// Starts real processes as torchrun would, and collects their output.
#ifndef TESTS_TRAIN_REPLICAS_PROCESSES_H_
#define TESTS_TRAIN_REPLICAS_PROCESSES_H_

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/base/files.h"
#include "tests/base/port.h"

namespace tra {

// Runs a command in a process, which the destructor kills if it still runs.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const int flags = O_WRONLY | O_CREAT;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, (directory_ / "out").c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (directory_ / "err").c_str(), flags, 0600);
    const int error = posix_spawn(&id_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + command[0]);
  }
  ~Process() {
    if (!ended_) Wait(std::chrono::seconds(0));
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Returns the exit code, or -1 if a signal ended the process. Kills it after `patience`.
  int Wait(std::chrono::seconds patience = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + patience;
    int status = 0;
    while (waitpid(id_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) Signal(SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void Signal(int signal) { kill(id_, signal); }

  std::string Out() const { return ReadBytes(directory_ / "out"); }
  std::string Err() const { return ReadBytes(directory_ / "err"); }

  // Says whether it prints something within a minute.
  bool Speaks() const {
    for (int i = 0; i < 6000 && Out().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return !Out().empty();
  }

 private:
  TemporaryDirectory directory_;
  pid_t id_ = 0;
  bool ended_ = false;
};

// Starts the worker with the variables that torchrun would set, and with one thread.
inline std::unique_ptr<Process> StartRank(int rank, int size, const std::string& port,
                                          const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"/usr/bin/env",
                                      "OMP_NUM_THREADS=1",
                                      "RANK=" + std::to_string(rank),
                                      "WORLD_SIZE=" + std::to_string(size),
                                      "MASTER_ADDR=127.0.0.1",
                                      "MASTER_PORT=" + port,
                                      TRA_WORKER};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_unique<Process>(command);
}

using Processes = std::vector<std::unique_ptr<Process>>;  // by rank

inline Processes StartRanks(int size, const std::vector<std::string>& arguments) {
  const std::string port = FreePort();
  Processes processes;
  for (int rank = 0; rank < size; ++rank) processes.push_back(StartRank(rank, size, port, arguments));
  return processes;
}

}  // namespace tra

#endif  // TESTS_TRAIN_REPLICAS_PROCESSES_H_
