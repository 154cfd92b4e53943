// Renders tables as text.
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

const std::vector<TableFormat>& TableFormats();

// Renders tables in the format of this name. Throws std::invalid_argument that lists the known formats.
std::string RenderTables(const std::vector<Table>& tables, const std::string& format);

}  // namespace tra

#endif  // TRA_REPORT_RENDER_H_
