// Describes the tables that can be built, as data.
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

// Orders 51-100 before 101-200: digits that stand together count as one number.
bool NaturallyBefore(const std::string& a, const std::string& b);

// Returns the paper's tables "table1", "table2" and "table3", with lines that say how many runs solve each task, and
// "windows" with the numbers of its figure on longer windows.
const std::vector<TableSpec>& PaperTables();

// Returns a line that says how many runs of a task solve it.
LineSpec SolvedLine(const std::string& task);

// Returns the table "all": one line for everything that any of the runs measured, and
// how many solve each task.
TableSpec GenericTable(const std::vector<RunResults>& runs);

// Returns the table "solved": exact match on every split and how many runs solve their task, with one row per setting.
TableSpec SolvedTable(const std::vector<RunResults>& runs);

// Returns the table "summary" of a task: what tells how good a run is, on every split and at every window, with one row
// per setting.
TableSpec SummaryTable(const std::string& task, const std::vector<RunResults>& runs);

}  // namespace tra

#endif  // TRA_REPORT_SPECS_H_
