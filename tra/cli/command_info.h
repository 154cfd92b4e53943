// Describes the commands of `tra` as data, read from what they declare to CLI11: for completion and the manual page.
#ifndef TRA_CLI_COMMAND_INFO_H_
#define TRA_CLI_COMMAND_INFO_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace tra::cli {

// Says what stands after an option, or for a positional argument.
enum class ValueKind : uint8_t { kNothing, kListed, kPath, kOther };

struct OptionInfo {
  std::vector<std::string> names;  // "-o", "--out"; of a positional argument the one name, without dashes
  std::string description;
  std::string default_value;  // empty: none that help shows
  bool positional = false, required = false, repeats = false;
  ValueKind kind = ValueKind::kNothing;
  std::vector<std::string> values;  // all that it may be, for kListed; one that ends with = wants more
};

struct CommandInfo {
  std::string name;  // "tra data show"
  std::string description, footer;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
};

// Describes an application with all its commands.
CommandInfo DescribeCommands(const CLI::App& app);

// Returns the command and all below it, in the order of help.
std::vector<const CommandInfo*> AllCommands(const CommandInfo& command);

}  // namespace tra::cli

#endif  // TRA_CLI_COMMAND_INFO_H_
