#include <cmath>
#include <optional>
#include <string_view>

#include "tra/report/renderers.h"

namespace tra {
namespace {

constexpr std::string_view kPlusMinus = "±";

struct Markup {
  std::string (*escape)(const std::string& text);
  const char *plus_minus, *bold, *bold_end;
};

std::string EscapeMarkdown(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += ' ';  // the end of a line would end the row
      continue;
    }
    if (std::string_view("\\`*_|<>&[]~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string EscapeLatex(const std::string& text) {
  std::string escaped;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, kPlusMinus.size(), kPlusMinus) == 0) {
      escaped += "$\\pm$";
      at += kPlusMinus.size() - 1;
      continue;
    }
    switch (const char c = text[at]) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        escaped += {'\\', c};
        break;
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '<':
        escaped += "\\textless{}";
        break;
      case '>':
        escaped += "\\textgreater{}";
        break;
      case '|':
        escaped += "\\textbar{}";
        break;
      case '\n':
        escaped += ' ';  // two of them would end the paragraph
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

constexpr Markup kMarkdown = {&EscapeMarkdown, " ± ", "**", "**"};
constexpr Markup kLatex = {&EscapeLatex, " $\\pm$ ", "\\textbf{", "}"};

// The deviation of what is not finite would be noise.
std::string MeanAndStd(double mean, std::optional<double> std, int decimals, const Markup& markup) {
  std::string text = Printed(mean, decimals);
  if (std && std::isfinite(mean)) text += markup.plus_minus + Printed(*std, decimals);
  return text;
}

std::vector<std::string> OurCells(const TableLine& line, bool with_n, const Markup& markup) {
  const int decimals = FindMetric(line.measure.metric).decimals;
  std::vector<std::string> cells;
  for (const Cell& cell : line.cells) {
    std::string text = "-";
    if (cell.summary.n > 0) {
      text = MeanAndStd(cell.summary.mean, cell.summary.std, decimals, markup);
      if (cell.best) text.insert(0, markup.bold).append(markup.bold_end);
      if (with_n) text += " (n=" + std::to_string(cell.summary.n) + ")";
    }
    cells.push_back(text);
  }
  return cells;
}

std::vector<std::string> PaperCells(const TableLine& line, const Markup& markup) {
  const int decimals = FindMetric(line.measure.metric).decimals;
  std::vector<std::string> cells;
  for (const std::optional<PaperValue>& value : line.paper) {
    cells.push_back(value ? MeanAndStd(value->mean, value->std, decimals, markup) : "-");
  }
  return cells;
}

std::vector<std::string> Titles(const Table& table, const Markup& markup) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(markup.escape(column.Title()));
  return titles;
}

std::string MarkdownRow(const std::string& label, const std::vector<std::string>& cells) {
  std::string row = "| " + label + " |";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

std::string LatexRow(const std::string& label, const std::vector<std::string>& cells) {
  std::string row = "    " + label;
  for (const std::string& cell : cells) row += " & " + cell;
  return row + " \\\\\n";
}

}  // namespace

std::string RenderMarkdown(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    if (!text.empty()) text += "\n";
    text += "**" + EscapeMarkdown(table.name) + "**: " + EscapeMarkdown(table.caption) + ".\n\n";
    text += MarkdownRow("", Titles(table, kMarkdown));
    text += "|---|";
    for (size_t column = 0; column < table.columns.size(); ++column) text += "---:|";
    text += "\n";
    for (const TableLine& line : table.lines) {
      text += MarkdownRow(EscapeMarkdown(line.label), OurCells(line, table.n_in_cells, kMarkdown));
      if (!line.paper.empty()) text += MarkdownRow("*paper*", PaperCells(line, kMarkdown));
    }
    if (!table.footnotes.empty()) text += "\n";
    for (const std::string& footnote : table.footnotes) text += "- " + EscapeMarkdown(footnote) + ".\n";
  }
  return text;
}

std::string RenderLatex(const std::vector<Table>& tables) {
  std::string text = "% \\usepackage{booktabs,adjustbox}\n";
  for (const Table& table : tables) {
    text += "\\begin{table*}\n  \\centering\n  \\caption{" + EscapeLatex(table.caption) + ".}\n";
    text += "  \\label{tab:" + table.name + "}\n";
    // Nine columns are wider than most pages; few are not to be blown up.
    text += "  \\begin{adjustbox}{max width=\\textwidth}\n";
    text += "  \\begin{tabular}{l" + std::string(table.columns.size(), 'c') + "}\n    \\toprule\n";
    text += LatexRow("", Titles(table, kLatex));
    const Measure* before = nullptr;
    for (const TableLine& line : table.lines) {
      const bool same_part =
          before != nullptr && before->task == line.measure.task && before->metric == line.measure.metric;
      if (!same_part) text += "    \\midrule\n";
      before = &line.measure;
      text += LatexRow(EscapeLatex(line.label), OurCells(line, table.n_in_cells, kLatex));
      if (!line.paper.empty()) text += LatexRow("\\quad\\textit{paper}", PaperCells(line, kLatex));
    }
    text += "    \\bottomrule\n  \\end{tabular}\n  \\end{adjustbox}\n";
    for (const std::string& footnote : table.footnotes) {
      text += "  \\par\\footnotesize " + EscapeLatex(footnote) + ".\n";
    }
    text += "\\end{table*}\n";
  }
  return text;
}

}  // namespace tra
