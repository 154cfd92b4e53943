// tra data: the group of commands on examples and texts.
#include "tra/cli/commands.h"

namespace tra::cli {

void AddData(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Look at examples and texts, write them to files, make them ready");
  data->require_subcommand(1);
  data->footer("Example: tra data show flipflop --split sparse --index 17");
  AddDataShow(*data);
  AddDataExport(*data);
  AddDataImport(*data);
  AddDataPrepare(*data);
  AddDataLearnBpe(*data);
  AddDataWindow(*data);
}

}  // namespace tra::cli
