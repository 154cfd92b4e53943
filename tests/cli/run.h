// Runs the real program, as a shell would.
#ifndef TESTS_CLI_RUN_H_
#define TESTS_CLI_RUN_H_

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/base/files.h"

namespace tra {

struct Result {
  int code = -1;
  std::string out, err;
};

// Runs tra with `arguments` as a shell would take them; `before` stands before the command, `input` is standard input.
inline Result RunTra(const std::string& arguments, const std::string& input = "", const std::string& before = "") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "in", std::ios::binary) << input;
  const std::string command = before + "'" TRA_PROGRAM "' " + arguments + " <" + (directory / "in") + " >" +
                              (directory / "out") + " 2>" + (directory / "err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadBytes(directory / "out"), ReadBytes(directory / "err")};
}

inline bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tra

#endif  // TESTS_CLI_RUN_H_
