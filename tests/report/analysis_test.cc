// Tests what is shown of an analysis: the table for people and the JSON for programs.
#include "tra/report/analysis.h"

#include <gtest/gtest.h>

#include <string>

#include "tra/report/analysis_charts.h"

namespace tra {
namespace {

// Makes an analysis of a layer with `heads` heads: head h keeps 0.2 + 0.2 h and has a gate of 0.9 - 0.1 h.
Analysis Example(int heads) {
  Analysis run;
  run.run = "runs/some|run";
  run.task = "flipflop";
  run.attention = "tra";
  run.split = "iid";
  run.step = 100;
  run.examples = 4;
  run.solved = true;
  run.evidence = {{0, 20, 0.5, {}}, {100, 20, 1, {}}};
  StretchAnalysis stretch;
  stretch.factor = 16;
  stretch.examples = 3;
  stretch.tokens = 8191.6;
  stretch.answers = 15;
  stretch.right = 0.8;
  stretch.same = 0.9;
  for (int h = 0; h < heads; ++h) {
    HeadAnalysis head;
    head.name = {0, 0, h};
    head.density = 0.2 + 0.2 * h;
    head.gate = 0.9 - 0.1 * h;
    head.token_distance = 12.345;
    run.heads.push_back(head);
    run.evidence[0].heads.push_back({{0.25, 0.125}, {0.5, 0.0625}});
    run.evidence[1].heads.push_back({{1, 0.875}, {0.75, 0.5}});
    HeadStretch stretched;
    stretched.same_kept = 0.875;
    stretched.count_change = 1.5;
    stretched.evidence = {0.5, 0.25};
    stretch.heads.push_back(stretched);
  }
  run.stretched = {stretch};
  run.notes = {"some note"};
  return run;
}

// The same head without a threshold and without gates.
Analysis WithoutThreshold() {
  Analysis run = Example(1);
  run.heads[0].density = run.heads[0].gate = std::nullopt;
  for (EvidenceAnalysis& step : run.evidence) {
    step.heads[0].evidence.kept = step.heads[0].links.kept = std::nullopt;
  }
  run.stretched[0].heads[0] = {};
  return run;
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(AnalysisMarkdown, ShowsSharesInPercentAndPairsWithTheirWeight) {
  const std::string text = AnalysisMarkdown({Example(1)});
  EXPECT_TRUE(Contains(text, "## runs/some\\|run")) << text;
  EXPECT_TRUE(Contains(text, "solves its task; 4 examples of split iid")) << text;
  EXPECT_TRUE(Contains(text, "| 0.0  |         20.0 |                 | 0.900 |")) << text;
  EXPECT_TRUE(Contains(text, "|     50.0 |  25.0 / 0.125 |")) << text;  // step 0
  EXPECT_TRUE(Contains(text, "|    100.0 | 100.0 / 0.875 |")) << text;
  EXPECT_TRUE(Contains(text, "| 16x    |        3 |   8192 |      15 |     80.0 |           90.0 |")) << text;
  EXPECT_TRUE(Contains(text, "Note: some note.")) << text;
  EXPECT_FALSE(Contains(text, "All runs")) << text;
}

TEST(AnalysisMarkdown, LeavesEmptyWhatDoesNotApply) {
  const std::string text = AnalysisMarkdown({WithoutThreshold()});
  EXPECT_TRUE(Contains(text, "| 0.0  |              |")) << text;
  EXPECT_TRUE(Contains(text, "| 0.125 |")) << text;  // the weight alone
  EXPECT_FALSE(Contains(text, "Sparsity")) << text;
  EXPECT_FALSE(Contains(text, "nan")) << text;
}

TEST(AnalysisMarkdown, ReportsNoCorrelationOfTwoHeads) {
  EXPECT_TRUE(Contains(AnalysisMarkdown({Example(2)}), "over 2 heads: no correlation, since that takes three heads"));
  // Density rises and the gate falls along a line, so sparsity and gate go together perfectly.
  EXPECT_TRUE(Contains(AnalysisMarkdown({Example(4)}), "over 4 heads: correlation 1.00, of ranks 1.00"));
}

TEST(AnalysisMarkdown, ComparesSeveralRunsByTheirBestHeads) {
  Analysis better = Example(2);
  better.run = "runs/better";
  better.solved = false;
  better.evidence[0].heads[1].evidence.kept = 0.625;
  const std::string text = AnalysisMarkdown({Example(1), better});
  EXPECT_TRUE(Contains(text, "## All runs")) << text;
  EXPECT_TRUE(Contains(text, "over 3 heads: correlation")) << text;  // of both runs together
  EXPECT_TRUE(Contains(text, "|    yes |    100.0 |      25.0 → 100.0 |")) << text;
  EXPECT_TRUE(Contains(text, "|     no |    100.0 |      62.5 → 100.0 |")) << text;
}

TEST(AnalysisJson, HasWhatTheTablesShowAndNullForWhatDoesNotApply) {
  const nlohmann::ordered_json json = ToJson({Example(3), WithoutThreshold()});
  EXPECT_EQ(json.at("format"), "tra-analysis");
  EXPECT_EQ(json.at("sparsity_and_gate").at("heads"), 3);
  EXPECT_DOUBLE_EQ(json.at("sparsity_and_gate").at("pearson").get<double>(), 1);
  const auto& run = json.at("runs").at(0);
  EXPECT_EQ(run.at("solved"), true);
  EXPECT_DOUBLE_EQ(run.at("heads").at(1).at("density").get<double>(), 0.4);
  EXPECT_EQ(run.at("heads").at(1).at("head"), 1);
  EXPECT_EQ(run.at("evidence").at(0).at("step"), 0);
  EXPECT_EQ(run.at("evidence").at(1).at("heads").at(0).at("evidence").at("weight"), 0.875);
  EXPECT_EQ(run.at("stretched").at(0).at("heads").at(2).at("same_kept"), 0.875);
  const auto& other = json.at("runs").at(1);
  EXPECT_TRUE(other.at("heads").at(0).at("density").is_null());
  EXPECT_TRUE(other.at("evidence").at(0).at("heads").at(0).at("links").at("kept").is_null());
  EXPECT_TRUE(other.at("sparsity_and_gate").at("pearson").is_null());
}

TEST(AnalysisCharts, DrawHeadsEvidenceAndLengthsUnderNamesThatDiffer) {
  const auto names = [](const std::vector<Analysis>& runs) {
    std::string all;
    for (const NamedChart& each : AnalysisCharts(runs)) {
      all += each.name + " ";
      EXPECT_TRUE(Contains(ChartSvg(each.chart), "class=\"marker\""));
    }
    return all;
  };
  EXPECT_EQ(names({Example(2)}), "heads evidence stretched ");
  Analysis text = Example(3);
  text.evidence.clear();
  text.stretched.clear();
  EXPECT_EQ(names({text}), "heads ");
  EXPECT_EQ(names({WithoutThreshold()}), "evidence stretched ");
  EXPECT_EQ(names({Example(1), Example(1)}),
            "heads evidence-some|run stretched-some|run evidence-some|run-2 stretched-some|run-2 ");
}

// A scatter plot has no lines between its points.
TEST(AnalysisCharts, HeadsAreNotJoined) {
  const Chart chart = AnalysisCharts({Example(3)})[0].chart;
  EXPECT_FALSE(Contains(ChartSvg(chart), "stroke-dasharray"));
}

}  // namespace
}  // namespace tra
