// tra table: prints results of many runs as the paper's tables.
#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/base/names.h"
#include "tra/cli/charted_run.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/report/render.h"
#include "tra/report/run_list.h"
#include "tra/report/specs.h"
#include "tra/report/tables.h"

namespace tra::cli {
namespace {

struct Request {
  std::vector<std::string> runs, tables;
  std::string format = "md", out;
  bool paper = false, each_run = false;
};

// Throws for an unknown table: a misspelt name would print nothing and look like success.
void CheckNames(const std::vector<std::string>& tables) {
  std::vector<std::string> known;
  for (const TableSpec& each : PaperTables()) known.push_back(each.name);
  known.push_back(SolvedTable({}).name);
  known.push_back(GenericTable({}).name);
  for (const std::string& name : tables) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw std::invalid_argument(UnknownName("table", name, known));
    }
  }
}

void PrintTables(const Request& request) {
  CheckNames(request.tables);
  const std::vector<RunResults> runs = ReadAllResults(request.runs);
  if (request.each_run) {
    Output out(request.out);
    out.Write(RunListCsv(runs));
    out.Finish();
    return;
  }
  TableOptions options;
  options.paper = request.paper;
  std::vector<TableSpec> specs = PaperTables();
  specs.push_back(SolvedTable(runs));
  specs.push_back(GenericTable(runs));
  std::vector<Table> tables;
  for (const TableSpec& spec : specs) {
    const bool named = std::find(request.tables.begin(), request.tables.end(), spec.name) != request.tables.end();
    if (!request.tables.empty() && !named) continue;
    Table table = BuildTable(spec, runs, options);
    // By default, shows the paper's tables that have results, and all results only if none of those has any.
    const bool is_papers = &spec < specs.data() + PaperTables().size();
    const bool is_all = &spec == &specs.back();
    const bool wanted = named || (!table.columns.empty() && (is_papers || (is_all && tables.empty())));
    if (wanted) tables.push_back(std::move(table));
  }
  Output out(request.out);
  out.Write(RenderTables(tables, request.format));
  out.Finish();
}

}  // namespace

void AddTable(CLI::App& app) {
  CLI::App* command = app.add_subcommand("table", "Show results of runs as tables: mean and deviation over seeds");
  auto request = std::make_shared<Request>();
  command
      ->add_option("folders", request->runs,
                   "folders of runs, sweeps (their folder or TOML file), or results.json files")
      ->required();
  std::string names;
  for (const TableSpec& each : PaperTables()) names += std::string(each.name) + ", ";
  // Takes one name each time, or it would take the folders that follow for more names.
  command
      ->add_option("--table", request->tables,
                   names + "solved, all; may be repeated; by default the paper's that have results")
      ->allow_extra_args(false);
  std::string formats;
  for (const TableFormat& each : TableFormats()) {
    formats += (formats.empty() ? "" : "; ") + std::string(each.name) + ": " + each.summary;
  }
  command->add_option("--format", request->format, formats)
      ->check(CLI::IsMember(NamesIn(TableFormats())))
      ->capture_default_str();
  command->add_flag("--runs", request->each_run, "one line per run, as CSV, instead of tables");
  command->add_flag("--paper", request->paper, "show the paper's numbers under ours");
  command->add_option("--out", request->out, "file to write; standard output by default");
  command->footer(
      "Example: tra table runs/small --paper\n"
      "tra table FOLDER --table solved has one row per setting of a sweep and counts the runs that solve their "
      "task.");
  command->callback([request] { PrintTables(*request); });
}

}  // namespace tra::cli
