// Writes rows of text as a table to read in a terminal.
#ifndef TRA_REPORT_ALIGNED_TABLE_H_
#define TRA_REPORT_ALIGNED_TABLE_H_

#include <string>
#include <vector>

namespace tra {

// Returns a table in Markdown whose columns are as wide as their widest cell, so that it is also aligned where it is
// not rendered. The first row has the titles; the first column is aligned to the left, the others to the right. All
// rows have the same number of cells.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace tra

#endif  // TRA_REPORT_ALIGNED_TABLE_H_
