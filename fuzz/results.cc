// Reads bytes as results.json. What is taken survives being written, and can be shown in every format.
#include "tra/report/results.h"

#include <stdexcept>

#include "fuzz/harnesses.h"
#include "fuzz/memory_file.h"
#include "tra/report/render.h"
#include "tra/report/run_list.h"
#include "tra/report/specs.h"
#include "tra/report/tables.h"

namespace tra::fuzz {

void ReadResultsBytes(std::string_view bytes) {
  RunResults results;
  try {
    results = ReadResults(MemoryFile(bytes).Path());
  } catch (const std::runtime_error&) {
    return;
  }
  const std::string written = ToJson(results).dump();
  Require(ToJson(ReadResults(MemoryFile(written).Path())).dump() == written, "results change when they are read back");
  const std::vector<RunResults> runs = {results};
  std::vector<Table> tables;
  for (const TableSpec& spec : {GenericTable(runs), SolvedTable(runs)}) tables.push_back(BuildTable(spec, runs, {}));
  for (const TableFormat& format : TableFormats()) {
    const std::string text = RenderTables(tables, format.name);
    Require(text.find('\x1b') == std::string::npos, "a table commands the terminal");
  }
  RunListCsv(runs);
}

}  // namespace tra::fuzz
