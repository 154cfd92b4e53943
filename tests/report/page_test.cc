#include "tra/report/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <stdexcept>

#include "tests/report/runs.h"
#include "tra/report/specs.h"

namespace tra {
namespace {

using nlohmann::json;

constexpr char kEvil[] = "</script><script>alert('\"&{{body}}')</script>";

Chart SmallChart(const std::string& name = "TRA") {
  Chart chart;
  chart.title = "a chart of " + name;
  chart.x = {"step", 0, 0};
  chart.y = {"exact match, %", 0, 100};
  chart.caption = "One seed of " + name + ".";
  chart.panels = {{"iid " + name,
                   {{name, {{1, 50}, {2, std::numeric_limits<double>::infinity()}, {4, 100}}},
                    {"RoPE", {{1, 25}, {3, 75}}, {{20, 30}, {70, 80}}}}}};
  return chart;
}

ReportedRun SmallRun(const std::string& text) {
  ReportedRun run;
  run.results = RunOf("flipflop", "tra", 3, {Em("iid", 1)}, text);
  run.folder = "results/" + text;
  run.config = {{"label", "\"" + text + "\"", "\"\"", "a name"},
                {"train.lr", "0.003", "0.001", "the " + text + " rate"},
                {"train.seed", "3", "1", "the seed"},
                {"train.steps", "10", "10", "steps"}};
  run.environment = {{"revision", "abc123"}, {"started", "2026-01-01T00:00:00Z"}, {"processor", text}, {"cores", 2}};
  return run;
}

Report SmallReport(const std::string& text = "plain") {
  Report report;
  report.title = "title " + text;
  report.command = "tra report " + text;
  const std::vector<RunResults> runs = {RunOf("flipflop", "tra", 1, {Em("iid", 1)}, text)};
  report.tables = {BuildTable(GenericTable(runs), runs, {})};
  report.charts = {SmallChart(text)};
  Heatmaps heatmaps;
  heatmaps.title = "of " + text;
  heatmaps.tokens = {text, "b"};
  heatmaps.answers = {false, true};
  heatmaps.heads = {{"layer 0, head 0", "keeps " + text, {CellOf(1), 0, 255}}};
  report.heatmaps = {heatmaps};
  report.heatmaps_note = "note " + text;
  Analysis analysis;
  analysis.task = "flipflop";
  analysis.attention = "tra";
  analysis.label = analysis.split = text;
  analysis.notes = {"nothing about " + text};
  analysis.heads.resize(1);
  analysis.heads[0].density = 0.25;
  analysis.heads[0].gate = 0.5;
  analysis.evidence.resize(1);
  analysis.evidence[0].heads.resize(1);
  analysis.evidence[0].heads[0].evidence.kept = 0.875;
  report.analyses = {analysis};
  report.runs = {SmallRun(text)};
  return report;
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Returns what the page's script reads.
json DataOf(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Page, IsOneDocumentWithItsSectionsAndNothingLeftToFillIn) {
  const std::string page = ReportPage(SmallReport());
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  for (const char* once : {"<html lang=\"en\">", "</html>", "<main>", "<h1>", "<meta name=\"viewport\""}) {
    EXPECT_EQ(Count(page, once), 1U) << once;
  }
  for (const char* id : {"tables", "charts", "heatmaps", "heads", "runs"}) {
    EXPECT_EQ(Count(page, "<section id=\"" + std::string(id) + "\">"), 1U) << id;
    EXPECT_EQ(Count(page, "<a href=\"#" + std::string(id) + "\">"), 1U) << id;
  }
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(Count(page, "<table>"), Count(page, "<caption>"));
}

TEST(Page, LoadsNothing) {
  for (const std::string& page : {ReportPage(SmallReport()), ChartPage(SmallChart())}) {
    // What a browser would fetch: attributes and style sheets with an address.
    const std::regex loads(
        "(src|href|srcset|action|data|poster)\\s*=\\s*[\"']?(https?:)?//|url\\(\\s*[\"']?(https?:)?//|@import");
    std::smatch found;
    EXPECT_FALSE(std::regex_search(page, found, loads)) << found.str();
    EXPECT_EQ(page.find("<script src"), std::string::npos);
    EXPECT_EQ(page.find("<link rel=\"stylesheet"), std::string::npos);
  }
}

TEST(Page, TextOfRunsIsNeverMarkup) {
  const std::string plain = ReportPage(SmallReport("plain")), page = ReportPage(SmallReport(kEvil));
  EXPECT_EQ(Count(page, "<script"), Count(plain, "<script"));
  EXPECT_EQ(Count(page, "</script"), Count(plain, "</script"));
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert("), std::string::npos);
  // Within data the text is itself again.
  EXPECT_EQ(DataOf(page)["charts"][0]["styles"][0]["name"], kEvil);
  EXPECT_EQ(DataOf(page)["heatmaps"][0]["tokens"][0], kEvil);
}

TEST(Page, TextThatIsNotUtf8DoesNotStopIt) {
  EXPECT_NE(ReportPage(SmallReport("\xff\xfe")).find("</html>"), std::string::npos);
}

TEST(Page, ChartsHaveAPictureTheirNumbersAndTheirData) {
  const std::string page = ChartPage(SmallChart());
  EXPECT_EQ(Count(page, "<svg xmlns"), 1U);
  EXPECT_NE(page.find("role=\"img\" aria-label=\"chart: a chart of TRA"), std::string::npos);
  EXPECT_NE(page.find("<figcaption>One seed of TRA.</figcaption>"), std::string::npos);
  EXPECT_NE(page.find("<th scope=\"row\">TRA</th><td>50</td><td>∞</td><td></td><td>100</td>"), std::string::npos);
  EXPECT_NE(page.find("<td>25 <small>(20 to 30)</small></td>"), std::string::npos);

  const json panel = DataOf(page)["charts"][0]["panels"][0];
  EXPECT_EQ(panel["at"], json({1.0, 2.0, 3.0, 4.0}));
  EXPECT_EQ(panel["series"][0]["y"], json({50, "∞", nullptr, 100}));
  EXPECT_EQ(panel["series"][1]["low"], json({20, nullptr, 70, nullptr}));
  EXPECT_EQ(panel["y"]["high"], 100);
}

TEST(Page, LongCurvesHaveTheirNumbersAtSomePlaces) {
  Chart chart = SmallChart();
  chart.panels[0].series.resize(1);
  chart.panels[0].series[0].points.clear();
  for (int i = 1; i <= 100; ++i) chart.panels[0].series[0].points.emplace_back(i, 1);
  const std::string page = ChartPage(chart);
  EXPECT_NE(page.find("at some of 100 places"), std::string::npos);
  EXPECT_EQ(Count(page, "<td>1</td>"), 12U);
  EXPECT_NE(page.find("<th scope=\"col\">100</th>"), std::string::npos);  // the end is among them
}

TEST(Page, CellsTellDroppedKeysFromTheSmallestWeight) {
  EXPECT_EQ(CellOf(0), static_cast<uint8_t>(CellCode::kZero));
  EXPECT_GT(CellOf(0), static_cast<uint8_t>(CellCode::kSkipped));
  EXPECT_GT(CellOf(1e-4), CellOf(0));
  EXPECT_EQ(CellOf(1), 255);
  EXPECT_EQ(CellOf(1.0000001), 255);  // a sum that was rounded
  EXPECT_EQ(CellOf(0.25), 2 + 127);   // half of 253, rounded up
  EXPECT_THROW(CellOf(std::nan("")), std::invalid_argument);
  EXPECT_THROW(CellOf(-0.1), std::invalid_argument);
  EXPECT_EQ(DataOf(ReportPage(SmallReport()))["heatmaps"][0]["heads"][0]["cells"], "/wD/");  // 255, 0, 255
}

TEST(Page, HeadsHaveWhatWasFoundOutAndDashesForTheRest) {
  const std::string page = ReportPage(SmallReport());
  EXPECT_NE(page.find("<td>25.0</td><td>–</td><td>0.5000</td><td>–</td><td>–</td><td>–</td><td>87.5</td><td>–</td>"),
            std::string::npos);
  EXPECT_NE(page.find("<li>nothing about plain</li>"), std::string::npos);
  EXPECT_NE(page.find("<figure>\n<h3>Sparsity and decay of the heads"), std::string::npos);  // one point per head
}

TEST(Page, ARunHasItsDifferencesFirstAndItsWholeConfigurationFolded) {
  const std::string page = ReportPage(SmallReport());
  EXPECT_NE(page.find("<th scope=\"row\"><code>train.lr</code></th><td>0.003</td><td>0.001</td>"), std::string::npos);
  EXPECT_EQ(page.find("<code>train.steps</code>"), std::string::npos);  // as usual
  EXPECT_NE(page.find("<pre>label = &quot;plain&quot;\n\n[train]\nlr = 0.003\nseed = 3\nsteps = 10\n</pre>"),
            std::string::npos);
  EXPECT_NE(page.find("<code>abc123</code>"), std::string::npos);
  EXPECT_NE(page.find("processor plain, cores 2"), std::string::npos);
  EXPECT_NE(page.find("tra train results/plain/config.toml --run FOLDER"), std::string::npos);
}

TEST(Page, RunsOfOneSettingStandTogetherWithWhatTheyDifferIn) {
  Report report = SmallReport();
  ReportedRun other = SmallRun("plain");
  other.results.seed = 2;
  other.config[3].value = "20";
  report.runs.push_back(other);
  const std::string page = ReportPage(report);
  EXPECT_EQ(Count(page, "<details class=\"setting"), 1U);
  EXPECT_NE(page.find("2 runs, 2 of 2 solved"), std::string::npos);
  EXPECT_NE(page.find("<th scope=\"col\">train.steps</th>"), std::string::npos);
  EXPECT_LT(page.find("<th scope=\"row\">2</th>"), page.find("<th scope=\"row\">3</th>"));
  EXPECT_EQ(Count(page, "<b>A</b>: processor plain"), 1U);  // one machine, said once
}

TEST(Page, RunsWithoutResultsAreNamedAtTheTop) {
  Report report = SmallReport();
  report.runs[0].trouble = "failed: the <loss> is not finite";
  EXPECT_NE(ReportPage(report).find("failed: the &lt;loss&gt; is not finite</li>"), std::string::npos);
  EXPECT_EQ(ReportPage(SmallReport()).find("Runs without results"), std::string::npos);
}

TEST(Page, TheSameReportIsTheSameBytes) { EXPECT_EQ(ReportPage(SmallReport()), ReportPage(SmallReport())); }

}  // namespace
}  // namespace tra
