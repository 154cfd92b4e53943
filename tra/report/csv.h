// Writes comma-separated values.
#ifndef TRA_REPORT_CSV_H_
#define TRA_REPORT_CSV_H_

#include <string>
#include <vector>

namespace tra {

// Returns a line with the line break; fields that need quotes get them.
std::string CsvRow(const std::vector<std::string>& fields);

// Returns as many digits as it takes to read the same number back.
std::string CsvNumber(double value);

}  // namespace tra

#endif  // TRA_REPORT_CSV_H_
