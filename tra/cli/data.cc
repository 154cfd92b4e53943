// tra data: groups the commands on examples and texts.
#include "tra/cli/commands.h"

namespace tra::cli {

void AddData(CLI::App& app) {
  CLI::App* data =
      app.add_subcommand("data", "Look at examples and texts, write them to files, prepare them for training");
  data->require_subcommand(1);
  data->footer("Example: tra data show flipflop --split sparse --index 17");
  for (const AddCommand add : kDataCommands) add(*data);
}

}  // namespace tra::cli
