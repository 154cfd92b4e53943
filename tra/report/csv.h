// Writes comma-separated values.
#ifndef TRA_REPORT_CSV_H_
#define TRA_REPORT_CSV_H_

#include <string>
#include <vector>

namespace tra {

// Returns a line with the line break; fields that need quotes get them, and what controls a terminal becomes a space. A
// text that a spreadsheet would take for a formula gets an apostrophe in front: what begins with =, +, -, @, a tab or a
// line break, and is not a number.
std::string CsvRow(const std::vector<std::string>& fields);

// Returns as many digits as it takes to read the same number back.
std::string CsvNumber(double value);

}  // namespace tra

#endif  // TRA_REPORT_CSV_H_
