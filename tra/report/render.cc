#include "tra/report/render.h"

#include "tra/base/names.h"
#include "tra/report/renderers.h"

namespace tra {

const std::vector<TableFormat>& TableFormats() {
  static const std::vector<TableFormat> kFormats = {
      {"md", "Markdown", &RenderMarkdown},
      {"text", "aligned columns for a terminal, the best with a star", &RenderText},
      {"latex", "LaTeX; needs the packages booktabs and adjustbox", &RenderLatex},
      {"html", "part of a page", &RenderHtml},
      {"csv", "a line per number, every digit", &RenderCsv},
      {"json", "everything", &RenderJson},
  };
  return kFormats;
}

std::string RenderTables(const std::vector<Table>& tables, const std::string& format) {
  return FindNamed("table format", format, TableFormats()).render(tables);
}

}  // namespace tra
