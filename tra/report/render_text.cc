#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "tra/base/text.h"
#include "tra/report/aligned_table.h"
#include "tra/report/renderers.h"
#include "tra/report/success.h"
#include "tra/report/xml.h"

namespace tra {

std::string EscapeMarkdown(const std::string& text) {
  std::string escaped;
  for (const char c : WithoutControls(text)) {  // the end of a line would end the row
    if (std::string_view("\\`*_|<>&[]~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

namespace {

constexpr std::string_view kPlusMinus = "±";

struct Markup {
  std::string (*escape)(const std::string& text);
  const char *plus_minus, *bold, *bold_end;
};

std::string EscapeLatex(const std::string& raw) {
  const std::string text = WithoutControls(raw);  // two ends of lines would end the paragraph
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
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string EscapeHtml(const std::string& text) { return EscapeXml(text); }

std::string KeepText(const std::string& text) { return text; }

constexpr Markup kText = {&KeepText, " ± ", "*", ""};
constexpr Markup kHtml = {&EscapeHtml, " ± ", "<b>", "</b>"};
constexpr Markup kMarkdown = {&EscapeMarkdown, " ± ", "**", "**"};
constexpr Markup kLatex = {&EscapeLatex, " $\\pm$ ", "\\textbf{", "}"};

// Leaves out the deviation if the mean is not finite, when it would mean nothing.
std::string MeanAndStd(double mean, std::optional<double> std, int decimals, const Markup& markup) {
  std::string text = Printed(mean, decimals);
  if (std && std::isfinite(mean)) text += markup.plus_minus + Printed(*std, decimals);
  return text;
}

// Returns "9 of 10 [0.60, 0.98]", with the 95% interval of the probability.
std::string HowMany(const Summary& summary) {
  const auto hits = static_cast<int64_t>(std::lround(summary.mean * static_cast<double>(summary.n)));
  const Interval interval = WilsonInterval(hits, summary.n);
  return std::to_string(hits) + " of " + std::to_string(summary.n) + " [" + Printed(interval.low, 2) + ", " +
         Printed(interval.high, 2) + "]";
}

std::vector<std::string> OurCells(const TableLine& line, bool with_n, const Markup& markup) {
  const int decimals = FindMetric(line.measure.metric).decimals;
  std::vector<std::string> cells;
  for (const Cell& cell : line.cells) {
    std::string text = "-";
    if (cell.summary.n > 0 && FindMetric(line.measure.metric).counted) {
      text = HowMany(cell.summary);
      if (cell.best) text.insert(0, markup.bold).append(markup.bold_end);
    } else if (cell.summary.n > 0) {
      text = MeanAndStd(cell.summary.mean, cell.summary.std, decimals, markup);
      if (cell.best) text.insert(0, markup.bold).append(markup.bold_end);
      if (with_n) text += " (n=" + std::to_string(cell.summary.n) + ")";
    }
    cells.push_back(text);
  }
  return cells;
}

std::vector<std::string> PaperCells(const TableLine& line, const std::vector<Column>& columns, const Markup& markup) {
  const int decimals = FindMetric(line.measure.metric).decimals;
  std::vector<std::string> cells;
  for (size_t at = 0; at < line.paper.size(); ++at) {
    const std::optional<PaperValue>& value = line.paper[at];
    const std::string missing = RepeatsAttention(columns, at) ? "" : "-";
    cells.push_back(value ? MeanAndStd(value->mean, value->std, decimals, markup) : missing);
  }
  return cells;
}

struct TextRow {
  std::string label;
  std::vector<std::string> cells;
  bool new_part = false;  // begins a new part of the table, with another task or metric than the row before
};

// Holds cells that are already marked up.
struct TextGrid {
  std::vector<std::string> titles;
  std::vector<TextRow> rows;
};

TextGrid LinesInRows(const Table& table, const Markup& markup, const std::string& paper_label) {
  TextGrid grid;
  for (const Column& column : table.columns) grid.titles.push_back(markup.escape(column.Title()));
  const Measure* before = nullptr;
  for (const TableLine& line : table.lines) {
    const bool same = before != nullptr && before->task == line.measure.task && before->metric == line.measure.metric;
    before = &line.measure;
    grid.rows.push_back({markup.escape(line.label), OurCells(line, table.n_in_cells, markup), !same});
    if (!line.paper.empty()) grid.rows.push_back({paper_label, PaperCells(line, table.columns, markup)});
  }
  return grid;
}

TextGrid GridOf(const Table& table, const Markup& markup, const std::string& paper_label) {
  TextGrid grid = LinesInRows(table, markup, paper_label);
  if (!table.settings_in_rows) return grid;
  TextGrid turned;
  for (const TextRow& row : grid.rows) turned.titles.push_back(row.label);
  for (size_t at = 0; at < grid.titles.size(); ++at) {
    TextRow row = {grid.titles[at], {}, at == 0};
    for (const TextRow& line : grid.rows) row.cells.push_back(line.cells[at]);
    turned.rows.push_back(std::move(row));
  }
  return turned;
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

std::string RenderText(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    if (!text.empty()) text += "\n";
    text += WithoutControls(table.name + ": " + table.caption) + "\n\n";
    const TextGrid grid = GridOf(table, kText, "paper");
    std::vector<std::vector<std::string>> rows = {{""}};
    rows[0].insert(rows[0].end(), grid.titles.begin(), grid.titles.end());
    for (const TextRow& row : grid.rows) {
      rows.push_back({row.label});
      rows.back().insert(rows.back().end(), row.cells.begin(), row.cells.end());
    }
    text += AlignedTable(rows);
    for (const std::string& footnote : table.footnotes) text += WithoutControls(footnote) + "\n";
  }
  return text;
}

std::string RenderMarkdown(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    if (!text.empty()) text += "\n";
    text += "**" + EscapeMarkdown(table.name) + "**: " + EscapeMarkdown(table.caption) + ".\n\n";
    const TextGrid grid = GridOf(table, kMarkdown, "*paper*");
    text += MarkdownRow("", grid.titles);
    text += "|---|";
    for (size_t column = 0; column < grid.titles.size(); ++column) text += "---:|";
    text += "\n";
    for (const TextRow& row : grid.rows) text += MarkdownRow(row.label, row.cells);
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
    // Shrinks tables that are wider than the page, as nine columns often are, without enlarging narrow ones.
    text += "  \\begin{adjustbox}{max width=\\textwidth}\n";
    const TextGrid grid = GridOf(table, kLatex, "\\quad\\textit{paper}");
    text += "  \\begin{tabular}{l" + std::string(grid.titles.size(), 'c') + "}\n    \\toprule\n";
    text += LatexRow("", grid.titles);
    for (const TextRow& row : grid.rows) {
      if (row.new_part) text += "    \\midrule\n";
      text += LatexRow(row.label, row.cells);
    }
    text += "    \\bottomrule\n  \\end{tabular}\n  \\end{adjustbox}\n";
    for (const std::string& footnote : table.footnotes) {
      text += "  \\par\\footnotesize " + EscapeLatex(footnote) + ".\n";
    }
    text += "\\end{table*}\n";
  }
  return text;
}

std::string RenderHtml(const std::vector<Table>& tables) {
  const std::string paper = "<i>paper</i>";
  std::string text;
  for (const Table& table : tables) {
    const TextGrid grid = GridOf(table, kHtml, paper);
    // A region that can be scrolled must be reachable by keyboard.
    text += "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"table " + EscapeXml(table.name) + "\">\n";
    text += "<table>\n<caption>" + EscapeXml(table.caption) + ".</caption>\n<thead>\n<tr><td></td>";
    for (const std::string& title : grid.titles) {
      text += "<th scope=\"col\">" + title + "</th>";
    }
    text += "</tr>\n</thead>\n<tbody>\n";
    for (const TextRow& row : grid.rows) {
      const std::string kind = row.label == paper ? "paper" : row.new_part ? "part" : "";
      text += kind.empty() ? "<tr>" : "<tr class=\"" + kind + "\">";
      text += "<th scope=\"row\">" + row.label + "</th>";
      for (const std::string& cell : row.cells) text += "<td>" + cell + "</td>";
      text += "</tr>\n";
    }
    text += "</tbody>\n</table>\n</div>\n";
    if (table.footnotes.empty()) continue;
    text += "<ul class=\"notes\">\n";
    for (const std::string& footnote : table.footnotes) text += "<li>" + EscapeXml(footnote) + ".</li>\n";
    text += "</ul>\n";
  }
  return text;
}

}  // namespace tra
