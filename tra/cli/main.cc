#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/base/names.h"
#include "tra/cli/commands.h"
#include "tra/ops/error_message.h"

namespace {

constexpr int kFailed = 1, kBadUsage = 2;

// CLI11 would only say that the word was not expected.
void CheckCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  for (const std::string& name : known) {
    if (name == argv[1]) return;
  }
  throw std::invalid_argument(tra::UnknownName("command", argv[1], known));
}

int Run(int argc, char** argv) {
  CLI::App app("Threshold Relative Attention: attention that generalises to lengths never seen in training.", "tra");
  app.set_version_flag("--version", TRA_VERSION);
  app.require_subcommand(1);
  app.footer("tra COMMAND --help says more. Exit codes: 0, 1 (failed), 2 (bad usage), 3 (stopped on request).");
  int exit_code = 0;
  using namespace tra::cli;
  AddDemo(app, exit_code);
  AddTrain(app, exit_code);
  AddSweep(app, exit_code);
  for (auto* add : {&AddEval, &AddTable, &AddGenerate, &AddLogits, &AddList, &AddData, &AddTokenize}) add(app);
#ifdef TRA_BENCH
  AddBench(app);
#endif
  try {
    if (argc == 1) {
      std::cerr << app.help();
      return kBadUsage;
    }
    CheckCommand(app, argc, argv);
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  } catch (const std::invalid_argument& error) {
    std::cerr << "tra: " << error.what() << "\n";
    return kBadUsage;
  } catch (const std::exception& error) {
    std::cerr << "tra: " << tra::ErrorMessage(error) << "\n";
    return kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) { return Run(argc, argv); }
