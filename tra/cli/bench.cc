// tra bench: groups the measurements, which live in bench/.
#include "bench/commands.h"
#include "tra/cli/commands.h"

namespace tra::cli {

void AddBench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Check that results are right, then measure speed and memory");
  command->require_subcommand(1);
  command->footer("Example: tra bench attention --quick");
  bench::AddAttention(*command);
  bench::AddDecode(*command);
  bench::AddStep(*command);
  bench::AddProducts(*command);
  bench::AddData(*command);
}

}  // namespace tra::cli
