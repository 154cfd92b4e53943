// Declares the commands of `tra`, one per file. Each adds itself to the application with the options it takes, and does
// its work in its callback. A command that fails throws; one that ends with an exit code other than 0 calls EndWith.
#ifndef TRA_CLI_COMMANDS_H_
#define TRA_CLI_COMMANDS_H_

#include <CLI/App.hpp>

namespace tra::cli {

using AddCommand = void (*)(CLI::App& app);

void AddDemo(CLI::App& app);
void AddTrain(CLI::App& app);
void AddSweep(CLI::App& app);
void AddEval(CLI::App& app);
void AddTable(CLI::App& app);
void AddPlot(CLI::App& app);
void AddReport(CLI::App& app);
void AddAnalyze(CLI::App& app);
void AddHeatmap(CLI::App& app);
void AddView(CLI::App& app);
void AddGenerate(CLI::App& app);
void AddLogits(CLI::App& app);
void AddList(CLI::App& app);
void AddData(CLI::App& app);
void AddTokenize(CLI::App& app);
void AddCompletion(CLI::App& app);
void AddMan(CLI::App& app);
void AddBench(CLI::App& app);

// In the order in which help lists them.
constexpr AddCommand kCommands[] = {
    &AddDemo,  &AddTrain,    &AddSweep,  &AddEval, &AddTable, &AddPlot,     &AddReport,     &AddAnalyze, &AddHeatmap,
    &AddView,  &AddGenerate, &AddLogits, &AddList, &AddData,  &AddTokenize, &AddCompletion, &AddMan,
#ifdef TRA_BENCH
    &AddBench,
#endif
};

// The commands of `tra data`.
void AddDataShow(CLI::App& data);
void AddDataExport(CLI::App& data);
void AddDataImport(CLI::App& data);
void AddDataPrepare(CLI::App& data);
void AddDataLearnBpe(CLI::App& data);
void AddDataWindow(CLI::App& data);

constexpr AddCommand kDataCommands[] = {&AddDataShow,    &AddDataExport,   &AddDataImport,
                                        &AddDataPrepare, &AddDataLearnBpe, &AddDataWindow};

// Ends the program with this exit code, from the callback of a command.
inline void EndWith(int exit_code) {
  if (exit_code != 0) throw CLI::RuntimeError(exit_code);
}

}  // namespace tra::cli

#endif  // TRA_CLI_COMMANDS_H_
