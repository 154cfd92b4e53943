// tra bench: the group of measurements, which live in bench/.
#include "bench/commands.h"
#include "tra/cli/commands.h"

namespace tra::cli {

void AddBench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Measure speed and memory, of what is checked first");
  command->require_subcommand(1);
  command->footer("Example: tra bench attention --quick");
  bench::AddAttention(*command);
  bench::AddDecode(*command);
  bench::AddStep(*command);
  bench::AddData(*command);
}

}  // namespace tra::cli
