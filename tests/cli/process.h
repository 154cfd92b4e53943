// Runs the real program in the background, to be stopped and killed.
#ifndef TESTS_CLI_PROCESS_H_
#define TESTS_CLI_PROCESS_H_

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace tra {

class Process {
 public:
  // Starts the program. `environment` stands before the command, as in a shell; the program's output goes to the file
  // `said`.
  explicit Process(const std::string& arguments, const std::string& environment = "",
                   const std::string& said = "/dev/null")
      : pid_(fork()) {
    if (pid_ == 0) {
      const std::string command = environment + " exec '" TRA_PROGRAM "' " + arguments + " >" + said + " 2>&1";
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
  }
  void Kill(int signal) const { kill(pid_, signal); }
  int Wait() const {  // the exit code, or minus the signal
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// Says whether the file appears within half a minute.
inline bool WaitFor(const std::string& path) {
  namespace fs = std::filesystem;
  for (int i = 0; i < 3000 && !fs::exists(path); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return fs::exists(path);
}

}  // namespace tra

#endif  // TESTS_CLI_PROCESS_H_
