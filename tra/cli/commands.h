// The commands of `tra`: a file each. Each adds itself to the application with what it takes, and works when chosen.
// std::invalid_argument means bad usage (exit code 2), any other exception a failure (1).
#ifndef TRA_CLI_COMMANDS_H_
#define TRA_CLI_COMMANDS_H_

#include <CLI/App.hpp>

namespace tra::cli {

void AddList(CLI::App& app);
void AddData(CLI::App& app);
void AddTokenize(CLI::App& app);
void AddTrain(CLI::App& app, int& exit_code);
void AddSweep(CLI::App& app, int& exit_code);
void AddDemo(CLI::App& app, int& exit_code);
void AddEval(CLI::App& app);
void AddTable(CLI::App& app);
void AddGenerate(CLI::App& app);
void AddLogits(CLI::App& app);
void AddBench(CLI::App& app);  // where the benchmarks are built (TRA_BENCH)

// Of `tra data`.
void AddDataShow(CLI::App& data);
void AddDataExport(CLI::App& data);
void AddDataImport(CLI::App& data);
void AddDataPrepare(CLI::App& data);
void AddDataLearnBpe(CLI::App& data);
void AddDataWindow(CLI::App& data);

}  // namespace tra::cli

#endif  // TRA_CLI_COMMANDS_H_
