#include "tra/report/page.h"

#include <set>
#include <stdexcept>
#include <string_view>

#include "tra/report/analysis_charts.h"
#include "tra/report/page_parts.h"
#include "tra/report/paper.h"
#include "tra/report/render.h"
#include "tra/report/success.h"
#include "tra/report/xml.h"

namespace tra {

// The files that the build embeds.
extern const char kPageHtml[];
extern const size_t kPageHtmlSize;
extern const char kPageCss[];
extern const size_t kPageCssSize;
extern const char kPageJs[];
extern const size_t kPageJsSize;
extern const char kUplotJs[];
extern const size_t kUplotJsSize;
extern const char kUplotCss[];
extern const size_t kUplotCssSize;

namespace {

using nlohmann::ordered_json;

// Returns JSON that can stand within <script>: nothing in it can end the element. Text that is not UTF-8, such as the
// name of a file, gets replacement characters.
std::string ScriptJson(const ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) {
    text += c == '<' ? "\\u003c" : std::string(1, c);
  }
  return text;
}

struct NamedText {
  std::string name, text;
};

// Fills in {{name}} in the template; what is filled in is not looked at again.
std::string Filled(std::string_view page, const std::vector<NamedText>& parts) {
  std::string out;
  for (size_t at = 0; at < page.size();) {
    const size_t open = page.find("{{", at);
    out += page.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    bool known = false;
    for (const NamedText& part : parts) {
      if (part.name == name) out += part.text;
      known = known || part.name == name;
    }
    if (!known) throw std::logic_error("page.html: nothing is called " + std::string(name));
    at = close + 2;
  }
  return out;
}

std::string WholePage(const std::string& title, const std::string& body, const ordered_json& data) {
  const auto text = [](const char* bytes, size_t size) { return std::string(bytes, size); };
  return Filled({kPageHtml, kPageHtmlSize},
                {{"title", EscapeXml(title)},
                 {"style", text(kUplotCss, kUplotCssSize) + "\n" + text(kPageCss, kPageCssSize)},
                 {"body", body},
                 {"data", ScriptJson(data)},
                 {"script", text(kUplotJs, kUplotJsSize) + "\n" + text(kPageJs, kPageJsSize)}});
}

constexpr char kThemeButton[] = "<button id=\"theme\" type=\"button\" hidden>Light or dark</button>\n";

std::string Tile(size_t count, const std::string& one, const std::string& many) {
  return "<li><b>" + std::to_string(count) + "</b> <span>" + (count == 1 ? one : many) + "</span></li>\n";
}

std::string Tiles(const std::vector<ReportedRun>& runs) {
  std::set<std::string> tasks, attentions;
  std::set<std::pair<std::string, std::string>> settings;
  std::set<uint64_t> seeds;
  size_t solved = 0, can_be_solved = 0;
  for (const ReportedRun& run : runs) {
    tasks.insert(run.results.task);
    attentions.insert(run.results.attention);
    settings.emplace(run.results.attention, run.results.label);
    seeds.insert(run.results.seed);
    if (const auto solves = Solved(run.results)) {
      ++can_be_solved;
      solved += *solves ? 1 : 0;
    }
  }
  std::string html = "<ul class=\"tiles\">\n" + Tile(runs.size(), "run", "runs") + Tile(tasks.size(), "task", "tasks") +
                     Tile(attentions.size(), "attention", "attentions");
  if (settings.size() != attentions.size()) html += Tile(settings.size(), "setting", "settings");
  html += Tile(seeds.size(), "seed", "seeds");
  if (can_be_solved > 0) html += Tile(solved, "run solves its task", "runs solve their task");
  return html + "</ul>\n";
}

std::string Troubles(const std::vector<ReportedRun>& runs) {
  std::string html;
  for (const ReportedRun& run : runs) {
    if (!run.trouble.empty())
      html += "<li><code>" + EscapeXml(run.folder) + "</code>: " + EscapeXml(run.trouble) + "</li>\n";
  }
  return html.empty() ? "" : "<div class=\"warning\">Runs without results:<ul>\n" + html + "</ul></div>\n";
}

// Collects the sections of a page and the links to them.
class Sections {
 public:
  void Add(const std::string& id, const std::string& title, const std::string& html) {
    links_ += "<a href=\"#" + id + "\">" + title + "</a>\n";
    sections_ += "<section id=\"" + id + "\">\n<h2>" + title + "</h2>\n" + html + "</section>\n";
  }
  std::string Html() const {
    return "<nav aria-label=\"sections\">\n" + links_ + "</nav>\n<main>\n" + sections_ + "</main>\n";
  }

 private:
  std::string links_, sections_;
};

std::string Note(const std::string& text) { return text.empty() ? "" : "<p>" + EscapeXml(text) + "</p>\n"; }

}  // namespace

std::string ChartPage(const Chart& chart) {
  const std::string body = "<main>\n" + std::string(kThemeButton) + ChartHtml(chart, 0) + "</main>\n";
  return WholePage(chart.title, body, {{"charts", {ChartJson(chart)}}, {"heatmaps", ordered_json::array()}});
}

std::string ReportPage(const Report& report) {
  ordered_json charts = ordered_json::array(), heatmaps = ordered_json::array();
  std::string figures, heads = Note(report.heatmaps_note), analyses = Note(report.analysis_note);
  for (const Chart& chart : report.charts) {
    figures += ChartHtml(chart, charts.size());
    charts.push_back(ChartJson(chart));
  }
  if (!report.heatmaps.empty()) heads += kHeatmapsKey;
  for (const Heatmaps& each : report.heatmaps) {
    heads += HeatmapsHtml(each, heatmaps.size());
    heatmaps.push_back(HeatmapsJson(each));
  }
  for (const NamedChart& each : AnalysisCharts(report.analyses)) {
    if (each.name == "heads")
      analyses += ChartHtml(each.chart, charts.size());  // a scatter plot, which stays a picture
  }
  for (const Analysis& each : report.analyses) analyses += AnalysisHtml(each);

  Sections sections;
  if (!report.tables.empty()) sections.Add("tables", "Tables", RenderTables(report.tables, "html"));
  if (!figures.empty()) sections.Add("charts", "Charts", figures);
  sections.Add("heatmaps", "Heatmaps", heads);
  sections.Add("heads", "Heads", analyses);
  sections.Add("runs", "Runs", RunsHtml(report.runs));
  const std::string body = "<header>\n" + std::string(kThemeButton) + "<h1>" + EscapeXml(report.title) +
                           "</h1>\n<p>Made by <code>" + EscapeXml(report.command) + "</code></p>\n" +
                           Tiles(report.runs) + Troubles(report.runs) + "</header>\n" + sections.Html();
  return WholePage(report.title, body, {{"charts", std::move(charts)}, {"heatmaps", std::move(heatmaps)}});
}

}  // namespace tra
