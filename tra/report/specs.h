// Which tables there are, as data.
#ifndef TRA_REPORT_SPECS_H_
#define TRA_REPORT_SPECS_H_

#include <string>
#include <vector>

#include "tra/report/measure.h"
#include "tra/report/results.h"

namespace tra {

struct LineSpec {
  std::string label;
  Measure measure;
};

struct TableSpec {
  std::string name;  // on the command line and in files
  std::string title;
  std::vector<LineSpec> lines;
  bool settings_in_rows = false;  // rather than in columns: for many settings and few measures
};

// "table1", "table2" and "table3" are the paper's; "windows" has the numbers of its figure of longer windows.
const std::vector<TableSpec>& PaperTables();

// How many runs of a task solve it.
LineSpec SolvedLine(const std::string& task);

// "all": a line for everything that any of the runs measured.
TableSpec GenericTable(const std::vector<RunResults>& runs);

// "solved": exact match on every split and how many runs solve their task, a row for each setting.
TableSpec SolvedTable(const std::vector<RunResults>& runs);

}  // namespace tra

#endif  // TRA_REPORT_SPECS_H_
