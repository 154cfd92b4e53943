// Adds the options that the benchmarks share.
#ifndef TRA_BENCH_OPTIONS_H_
#define TRA_BENCH_OPTIONS_H_

#include <CLI/App.hpp>
#include <string>

namespace tra::bench {

void AddRoundsOption(CLI::App& command, int& rounds);
void AddJsonOption(CLI::App& command, std::string& json);
void AddThreadsOption(CLI::App& command, int& threads);

}  // namespace tra::bench

#endif  // TRA_BENCH_OPTIONS_H_
