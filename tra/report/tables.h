// Builds tables of the results of many runs: attentions side by side, a mean over seeds in each cell.
#ifndef TRA_REPORT_TABLES_H_
#define TRA_REPORT_TABLES_H_

#include <optional>
#include <string>
#include <vector>

#include "tra/report/measure.h"
#include "tra/report/paper.h"
#include "tra/report/results.h"
#include "tra/report/specs.h"
#include "tra/report/summary.h"

namespace tra {

struct Column {
  std::string attention, label;

  std::string Title() const;  // as the paper writes it, and the label if there is one: "TRA (wide)"
};

// Orders columns as the paper does, others after them.
struct InPaperOrder {
  bool operator()(const Column& a, const Column& b) const;
};

// Says whether the column before has the same attention, with another label.
bool RepeatsAttention(const std::vector<Column>& columns, size_t at);

// Throws std::invalid_argument that begins with the files of both if two runs have the same task, attention, label and
// seed: a mean would count that seed twice.
void RefuseDuplicates(const std::vector<const RunResults*>& runs);

// Holds a number in the unit of its line's metric, such as percent for exact match.
struct Cell {
  Summary summary;  // over seeds; n = 0 where no run has the number
  bool best = false;
};

struct TableLine {
  std::string label;
  Measure measure;
  std::vector<Cell> cells;  // by column
  // The paper's numbers by column; empty if not asked for or the paper has no such line. They are of the attention,
  // whatever our label, and stand in its first column.
  std::vector<std::optional<PaperValue>> paper;
};

// Holds a table with plain text, which renderers escape.
struct Table {
  std::string name, caption;
  std::vector<Column> columns;  // those with results: in the paper's order, others after them
  std::vector<TableLine> lines;
  std::vector<std::string> footnotes;
  bool n_in_cells = false;  // shows n in cells, because it differs
  bool settings_in_rows = false;
};

struct TableOptions {
  bool paper = false;  // show the paper's numbers under ours
};

// Builds a table that does not depend on the order of the runs. Throws what RefuseDuplicates throws.
Table BuildTable(const TableSpec& spec, const std::vector<RunResults>& runs, const TableOptions& options);

}  // namespace tra

#endif  // TRA_REPORT_TABLES_H_
