// Adds the commands of `tra bench`. Each checks results before it prints figures about them; docs/kernels.md,
// docs/models.md and docs/data.md say what the figures mean.
#ifndef TRA_BENCH_COMMANDS_H_
#define TRA_BENCH_COMMANDS_H_

#include <CLI/App.hpp>

namespace tra::bench {

void AddAttention(CLI::App& bench);
void AddDecode(CLI::App& bench);
void AddStep(CLI::App& bench);
void AddProducts(CLI::App& bench);
void AddData(CLI::App& bench);

}  // namespace tra::bench

#endif  // TRA_BENCH_COMMANDS_H_
