#include "tra/report/aligned_table.h"

#include <algorithm>
#include <cstddef>

#include "tra/base/text.h"

namespace tra {
namespace {

using Row = std::vector<std::string>;

// Counts the characters of UTF-8 text.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string AlignedTable(const std::vector<Row>& raw_rows) {
  std::vector<Row> rows = raw_rows;
  std::vector<size_t> widths(rows[0].size(), 3);
  for (Row& row : rows) {
    for (std::string& cell : row) cell = WithoutControls(cell);  // the end of a line would end the row
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string out;
  for (size_t n = 0; n < rows.size(); ++n) {
    out += "|";
    for (size_t i = 0; i < rows[n].size(); ++i) {
      const std::string blanks(widths[i] - Width(rows[n][i]), ' ');
      out += " " + (i == 0 ? rows[n][i] + blanks : blanks + rows[n][i]) + " |";
    }
    out += "\n";
    if (n > 0) continue;
    out += "|";
    for (size_t i = 0; i < widths.size(); ++i) out += std::string(widths[i] + 1, '-') + (i == 0 ? "-|" : ":|");
    out += "\n";
  }
  return out;
}

}  // namespace tra
