// Comma-separated values.
#ifndef TRA_REPORT_CSV_H_
#define TRA_REPORT_CSV_H_

#include <string>
#include <vector>

namespace tra {

// A line, with its end; what needs quotes gets them.
std::string CsvRow(const std::vector<std::string>& fields);

// As many digits as it takes to read the same number back.
std::string CsvNumber(double value);

}  // namespace tra

#endif  // TRA_REPORT_CSV_H_
