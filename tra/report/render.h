// Tables as text.
#ifndef TRA_REPORT_RENDER_H_
#define TRA_REPORT_RENDER_H_

#include <string>
#include <vector>

#include "tra/report/tables.h"

namespace tra {

struct TableFormat {
  const char* name;
  const char* summary;
  std::string (*render)(const std::vector<Table>& tables);
};

// md, latex, csv, json.
const std::vector<TableFormat>& TableFormats();

// Throws std::invalid_argument with the formats there are.
std::string RenderTables(const std::vector<Table>& tables, const std::string& format);

}  // namespace tra

#endif  // TRA_REPORT_RENDER_H_
