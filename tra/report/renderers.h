// Declares the renderers for the table of formats.
#ifndef TRA_REPORT_RENDERERS_H_
#define TRA_REPORT_RENDERERS_H_

#include <string>
#include <vector>

#include "tra/report/tables.h"

namespace tra {

// Escapes what Markdown would take for markup, and turns ends of lines into spaces.
std::string EscapeMarkdown(const std::string& text);

// Render tables for reading; as text, for a terminal: columns are aligned, and the best cells begin with a star.
std::string RenderText(const std::vector<Table>& tables);
std::string RenderMarkdown(const std::vector<Table>& tables);
std::string RenderLatex(const std::vector<Table>& tables);
std::string RenderHtml(const std::vector<Table>& tables);

// Render tables for programs: with every digit, in the same units.
std::string RenderCsv(const std::vector<Table>& tables);
std::string RenderJson(const std::vector<Table>& tables);

}  // namespace tra

#endif  // TRA_REPORT_RENDERERS_H_
