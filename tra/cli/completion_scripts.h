// Writes scripts that complete the commands of `tra` in shells.
#ifndef TRA_CLI_COMPLETION_SCRIPTS_H_
#define TRA_CLI_COMPLETION_SCRIPTS_H_

#include <string>

#include "tra/cli/command_info.h"

namespace tra::cli {

// Each returns a script with all that it completes, so that completing starts no program.
std::string BashCompletion(const CommandInfo& tra);
std::string ZshCompletion(const CommandInfo& tra);
std::string FishCompletion(const CommandInfo& tra);

}  // namespace tra::cli

#endif  // TRA_CLI_COMPLETION_SCRIPTS_H_
