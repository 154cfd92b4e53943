// tra completion: prints a script that completes commands, options and values in a shell.
#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "tra/base/names.h"
#include "tra/cli/commands.h"
#include "tra/cli/completion_scripts.h"
#include "tra/cli/output.h"

namespace tra::cli {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(const CommandInfo& tra);
};
constexpr Shell kShells[] = {{"bash", &BashCompletion}, {"zsh", &ZshCompletion}, {"fish", &FishCompletion}};

}  // namespace

void AddCompletion(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands in bash, zsh or fish");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "the shell to write for")->required()->check(CLI::IsMember(NamesIn(kShells)));
  command->footer(
      "Example: source <(tra completion bash)\n"
      "cmake --install and the packages put the scripts where the shells find them.");
  command->callback([shell, &app] {
    Output out("");
    out.Write(FindNamed("shell", *shell, kShells).script(DescribeCommands(app)));
    out.Finish();
  });
}

}  // namespace tra::cli
