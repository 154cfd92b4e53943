#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/base/names.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/ops/error_message.h"
#include "tra/run/environment.h"

namespace {

constexpr int kFailed = 1, kBadInput = 2;

// Throws for an unknown command, with the nearest one. CLI11 would only say that the word was not expected, or that a
// subcommand is required.
void CheckCommand(const CLI::App& app, int argc, char** argv) {
  const CLI::App* group = &app;
  std::string kind = "command";
  for (int at = 1; at < argc && argv[at][0] != '-'; ++at) {
    const CLI::App* chosen = nullptr;
    std::vector<std::string> known;
    for (const CLI::App* command : group->get_subcommands({})) {
      known.push_back(command->get_name());
      if (known.back() == argv[at]) chosen = command;
    }
    if (known.empty()) return;  // what follows are the command's arguments
    if (chosen == nullptr) throw std::invalid_argument(tra::UnknownName(kind, argv[at], known));
    group = chosen;
    kind = chosen->get_name() + " command";  // "data command"
  }
}

// Opens the standard streams that the caller has closed, or the next files to be opened would take their numbers, and
// get what is meant for the terminal. Each is opened for the wrong direction: using it fails, as it does when closed.
void OpenStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    const int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the lowest free number
    if (opened != stream) std::_Exit(kFailed);
  }
}

int Run(int argc, char** argv) {
  CLI::App app("Threshold Relative Attention: attention that generalises to lengths never seen in training.", "tra");
  app.set_version_flag("--version", &tra::VersionText, "Show the version, the revision and the libraries");
  app.require_subcommand(1);
  app.footer("tra COMMAND --help says more. Exit codes: 0, 1 (failed), 2 (bad input), 3 (stopped on request).");
  for (const tra::cli::AddCommand add : tra::cli::kCommands) add(app);
  try {
    if (argc == 1) {
      std::cerr << app.help();
      return kBadInput;
    }
    CheckCommand(app, argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, message;
    const int code = app.exit(error, out, message);
    std::cout << out.str();
    std::cerr << tra::cli::ShownMessage(message.str());
    return code == 0 ? 0 : kBadInput;
  } catch (const std::exception& error) {
    std::cerr << "tra: " << tra::cli::ShownMessage(tra::ErrorMessage(error)) << "\n";
    return tra::IsBadInput(error) ? kBadInput : kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardStreams();
  const int code = Run(argc, argv);
  if (tra::cli::FlushStandardOutput() || code != 0) return code;
  std::cerr << "tra: cannot write all of standard output; make room, or write to another place\n";
  return kFailed;
}
