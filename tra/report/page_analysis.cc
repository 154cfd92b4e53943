#include <cstdio>
#include <optional>

#include "tra/report/page_parts.h"
#include "tra/report/xml.h"

namespace tra {
namespace {

// Returns a cell with a number, or a dash where the head's rule has none.
std::string Cell(std::optional<double> value, const char* format, double scale = 1) {
  if (!value) return "<td>–</td>";
  char text[48];
  std::snprintf(text, sizeof text, format, scale * *value);
  return "<td>" + std::string(text) + "</td>";
}

std::string Percent(std::optional<double> share) { return Cell(share, "%.1f", 100); }

std::string Begin(const std::string& caption, const std::vector<const char*>& columns) {
  std::string html = "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"heads\">\n<table>\n<caption>" +
                     EscapeXml(caption) + "</caption>\n<thead><tr>";
  for (size_t i = 0; i < columns.size(); ++i) {
    html += std::string(i == 0 ? "<th scope=\"col\" class=\"text\">" : "<th scope=\"col\">") + columns[i] + "</th>";
  }
  return html + "</tr></thead>\n<tbody>\n";
}

constexpr char kEnd[] = "</tbody>\n</table>\n</div>\n";

std::string RowTitle(const std::string& title) { return "<tr><th scope=\"row\">" + title + "</th>"; }

std::string HeadsTable(const Analysis& analysis) {
  std::string html = Begin("Its heads, on " + std::to_string(analysis.examples) + " examples of " + analysis.split +
                               ", step " + std::to_string(analysis.step) + ": layer and head",
                           {"head", "keeps, %", "empty rows, %", "mean gate", "distance, kept keys", "distance, tokens",
                            "skipped, %", "keeps evidence, %", "weighs evidence, %"});
  const EvidenceAnalysis* evidence = analysis.evidence.empty() ? nullptr : &analysis.evidence.back();
  for (size_t i = 0; i < analysis.heads.size(); ++i) {
    const HeadAnalysis& head = analysis.heads[i];
    html += RowTitle(EscapeXml(head.name.Text())) + Percent(head.density) + Percent(head.empty_rows) +
            Cell(head.gate, "%.4f") + Cell(head.kept_distance, "%.2f") + Cell(head.token_distance, "%.2f") +
            Percent(head.skipped);
    const bool known = evidence != nullptr && i < evidence->heads.size();
    html += Percent(known ? evidence->heads[i].evidence.kept : std::nullopt) +
            Percent(known ? evidence->heads[i].evidence.weight : std::nullopt) + "</tr>\n";
  }
  return html + kEnd;
}

std::string StretchedTable(const Analysis& analysis) {
  if (analysis.stretched.empty()) return "";
  std::string html = Begin("The same examples with irrelevant tokens inserted",
                           {"times as long", "examples", "tokens", "right, %", "answers as before, %"});
  for (const StretchAnalysis& each : analysis.stretched) {
    html += RowTitle(std::to_string(each.factor)) + "<td>" + std::to_string(each.examples) + "</td>";
    if (each.examples == 0) {
      html += "<td>–</td><td>–</td><td>–</td></tr>\n";
      continue;
    }
    html += Cell(each.tokens, "%.0f") + Percent(each.right) + Percent(each.same) + "</tr>\n";
  }
  return html + kEnd;
}

}  // namespace

std::string AnalysisHtml(const Analysis& analysis) {
  const std::string title = analysis.task + ", " + Column{analysis.attention, analysis.label}.Title() + ", seed " +
                            std::to_string(analysis.seed);
  std::string html = "<h3>" + EscapeXml(title) + "</h3>\n" + HeadsTable(analysis) + StretchedTable(analysis);
  if (analysis.notes.empty()) return html;
  html += "<ul class=\"notes\">\n";
  for (const std::string& note : analysis.notes) html += "<li>" + EscapeXml(note) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace tra
