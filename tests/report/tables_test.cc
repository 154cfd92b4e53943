#include "tra/report/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "tests/report/runs.h"
#include "tra/report/render.h"

namespace tra {
namespace {

const TableSpec& Spec(std::string_view name) {
  for (const TableSpec& spec : PaperTables()) {
    if (spec.name == name) return spec;
  }
  throw std::invalid_argument(std::string(name));
}

Table Build(const std::string& name, const std::vector<RunResults>& runs, bool paper = false) {
  return BuildTable(Spec(name), runs, {paper});
}

const TableLine& Line(const Table& table, std::string_view label) {
  for (const TableLine& line : table.lines) {
    if (line.label == label) return line;
  }
  throw std::invalid_argument(std::string(label));
}

std::vector<std::string> Titles(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.Title());
  return titles;
}

std::vector<bool> Best(const TableLine& line) {
  std::vector<bool> best;
  for (const Cell& cell : line.cells) best.push_back(cell.best);
  return best;
}

// Returns which cells are best if nope, ape, rel, ... have one seed each, with these exact matches on IID flip-flop.
std::vector<bool> BestOf(const std::vector<double>& shares) {
  std::vector<RunResults> runs;
  for (size_t at = 0; at < shares.size(); ++at) {
    runs.push_back(RunOf("flipflop", kPaperAttentions[at].name, 1, {Em("iid", shares[at])}));
  }
  return Best(Line(Build("table1", runs), "Flip-flop IID"));
}

using Bools = std::vector<bool>;
using Strings = std::vector<std::string>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Tables, CellsAreMeansOverSeedsInPercent) {
  const Table table =
      Build("table1", {RunOf("flipflop", "tra", 1, {Em("iid", 0.90)}), RunOf("flipflop", "tra", 2, {Em("iid", 0.94)}),
                       RunOf("flipflop", "tra", 3, {Em("iid", 0.98)})});
  const Summary& summary = Line(table, "Flip-flop IID").cells.at(0).summary;
  EXPECT_EQ(summary.n, 3);
  EXPECT_DOUBLE_EQ(summary.mean, 94);
  EXPECT_DOUBLE_EQ(summary.std.value(), 4);
  EXPECT_DOUBLE_EQ(summary.min, 90);
  EXPECT_DOUBLE_EQ(summary.max, 98);
  EXPECT_NE(table.caption.find("std over seeds, n=3"), std::string::npos);
}

TEST(Tables, ColumnsAreInThePapersOrderThenOthersAndOnlyThoseWithResults) {
  std::vector<RunResults> runs;
  for (const char* attention : {"zebra", "tra", "alibi", "nope", "label", "cope"}) {
    runs.push_back(RunOf("copy", attention, 1, {Em("iid", 1)}));
  }
  runs.push_back(RunOf("copy", "tra", 1, {Em("iid", 1)}, "wide"));
  runs.push_back(RunOf("copy", "tra", 1, {Em("iid", 1)}, "deep"));
  runs.push_back(RunOf("copy", "rope", 1, {Em("train", 1)}));  // nothing that this table shows
  EXPECT_EQ(Titles(Build("table1", runs)),
            (Strings{"NoPE", "Label", "CoPE", "TRA", "TRA (deep)", "TRA (wide)", "alibi", "zebra"}));
}

TEST(Tables, RunsOfOneColumnOnSeveralTasksShareIt) {
  const Table table = Build(
      "table1", {RunOf("flipflop", "tra", 1, {Em("sparse", 0.5)}), RunOf("copy", "tra", 1, {Em("51-100", 0.25)})});
  EXPECT_EQ(Titles(table), Strings{"TRA"});
  EXPECT_EQ(Line(table, "Flip-flop OOD (sparse)").cells.at(0).summary.mean, 50);
  EXPECT_EQ(Line(table, "Copy OOD (51-100)").cells.at(0).summary.mean, 25);
  EXPECT_EQ(table.lines.size(), 4U);  // of either task, one line and how many runs solve it; the rest is left out
}

TEST(Tables, EmptyLinesStayBesideThePapersAndWhereAllAreEmpty) {
  TableOptions options;
  options.paper = true;
  const TableSpec spec = PaperTables().front();
  const Table copy = BuildTable(spec, {RunOf("copy", "tra", 1, {Em("iid", 1)})}, options);
  EXPECT_EQ(copy.lines.size(), 5U);  // four splits, and how many runs solve them
  for (const TableLine& line : copy.lines) EXPECT_EQ(line.measure.task, "copy");  // no other task was run
  EXPECT_EQ(BuildTable(spec, {}, {}).lines.size(), spec.lines.size());
}

TEST(Tables, TheTablesOfTasksCountTheRunsThatSolveThem) {
  const std::vector<RunResults> runs = {RunOf("copy", "tra", 1, {Em("iid", 1), Em("51-100", 1)}),
                                        RunOf("copy", "tra", 2, {Em("iid", 1), Em("51-100", 0.5)}),
                                        RunOf("copy", "rope", 1, {Em("iid", 1), Em("51-100", 0)})};
  for (const auto& [table, label] : {std::pair(Build("table1", runs), "Copy solved"),
                                     std::pair(BuildTable(GenericTable(runs), runs, {}), "copy solved")}) {
    const TableLine& line = Line(table, label);
    EXPECT_EQ(line.cells.at(1).summary.mean, 0.5) << label;
    EXPECT_EQ(line.cells.at(0).summary.mean, 0) << label;
    EXPECT_NE(RenderTables({table}, "md").find(" | 0 of 1 [0.00, 0.79] | **1 of 2 [0.09, 0.91]** |"), std::string::npos)
        << RenderTables({table}, "md");
  }
}

TEST(Tables, GroupsAreNotMixedWithTheWhole) {
  const Table table =
      Build("table2", {RunOf("flipflop++", "tra", 1, {Em("51-500", 0.9), Em("51-500", 0.4, "after-last")})});
  EXPECT_EQ(Line(table, "After last match").cells.at(0).summary.mean, 40);
  EXPECT_EQ(table.lines.size(), 2U);  // and how many runs solve it
}

TEST(Tables, SolvedCountsByTaskAndLeavesOutTexts) {
  const std::vector<RunResults> runs = {RunOf("copy", "tra", 1, {Em("iid", 1)}),
                                        RunOf("flipflop++", "tra", 1, {Em("iid", 0.5), Em("iid", 1, "after-last")}),
                                        RunOf("text", "tra", 1, {Perplexity(128, 30)})};
  const Table table = BuildTable(SolvedTable(runs), runs, {});
  EXPECT_EQ(table.lines.size(), 4U);
  EXPECT_EQ(Line(table, "copy iid").cells.at(0).summary.mean, 100);
  EXPECT_EQ(Line(table, "copy solved").cells.at(0).summary.mean, 1);
  EXPECT_EQ(Line(table, "flipflop++ iid").cells.at(0).summary.mean, 50);
  EXPECT_EQ(Line(table, "flipflop++ solved").cells.at(0).summary.mean, 0);
}

TEST(Tables, BestIsTheHighestAndTiesAreAllBest) {
  EXPECT_EQ(BestOf({0.5, 0.75, 0.25}), (Bools{false, true, false}));
  EXPECT_EQ(BestOf({0.75, 0.75, 0.25}), (Bools{true, true, false}));
}

TEST(Tables, WhatPrintsAlikeIsEquallyGood) {
  EXPECT_EQ(BestOf({0.99999, 1.0, 0.5}), (Bools{true, true, false}));  // both print as 100.00
  EXPECT_EQ(BestOf({0.99999, 1.0}), (Bools{false, false}));            // if all are equal, none is best
  EXPECT_EQ(BestOf({0.9999, 1.0}), (Bools{false, true}));              // prints as 99.99
}

TEST(Tables, LowerIsBetterForPerplexitiesErrorsAndLoss) {
  for (const char* metric : {"ppl_token", "ppl_word", "bits_per_byte", "token_error", "loss"}) {
    const std::vector<RunResults> runs = {RunOf("text", "rope", 1, {Perplexity(128, 0.31, metric)}),
                                          RunOf("text", "tra", 1, {Perplexity(128, 0.30, metric)})};
    EXPECT_EQ(Best(BuildTable(GenericTable(runs), runs, {}).lines.at(0)), (Bools{false, true})) << metric;
  }
}

TEST(Tables, NothingIsBestOfAMetricThatIsUnknown) {
  const std::vector<RunResults> runs = {RunOf("text", "rope", 1, {Perplexity(128, 0.3, "sparsity")}),
                                        RunOf("text", "tra", 1, {Perplexity(128, 0.5, "sparsity")})};
  EXPECT_EQ(Best(BuildTable(GenericTable(runs), runs, {}).lines.at(0)), (Bools{false, false}));
}

TEST(Tables, BestNeedsSomethingToBeBetterThan) {
  EXPECT_EQ(BestOf({0.5}), Bools{false});
  const Table table =
      Build("table1", {RunOf("copy", "rope", 1, {Em("51-100", 0.5)}), RunOf("copy", "tra", 1, {Em("iid", 1)})});
  EXPECT_EQ(Best(Line(table, "Copy OOD (51-100)")), (Bools{false, false}));
}

TEST(Tables, NanIsShownAndNeverBest) {
  EXPECT_EQ(BestOf({kNan, 0.5, 0.25}), (Bools{false, true, false}));
  EXPECT_EQ(BestOf({kNan, kNan}), (Bools{false, false}));
  const Table table =
      Build("table1", {RunOf("copy", "tra", 1, {Em("iid", kNan)}), RunOf("copy", "tra", 2, {Em("iid", 1)})});
  const Summary& summary = Line(table, "Copy IID (1-50)").cells.at(0).summary;
  EXPECT_EQ(summary.n, 2);
  EXPECT_TRUE(std::isnan(summary.mean));
}

TEST(Tables, InfinitePerplexityIsNotBest) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Table table = Build("table3", {RunOf("text", "rope", 1, {Perplexity(128, infinity)}),
                                       RunOf("text", "tra", 1, {Perplexity(128, 30)})});
  EXPECT_EQ(Best(table.lines.at(0)), (Bools{false, true}));
}

TEST(Tables, NumberOfSeedsGoesIntoTheCellsWhereItDiffers) {
  std::vector<RunResults> runs = {RunOf("copy", "tra", 1, {Em("iid", 1)}), RunOf("copy", "rope", 1, {Em("iid", 1)})};
  EXPECT_NE(Build("table1", runs).caption.find("one seed, n=1"), std::string::npos);
  EXPECT_FALSE(Build("table1", runs).n_in_cells);
  runs.push_back(RunOf("copy", "tra", 2, {Em("iid", 1)}));
  EXPECT_NE(Build("table1", runs).caption.find("std over seeds, n=1 to 2"), std::string::npos);
  EXPECT_TRUE(Build("table1", runs).n_in_cells);
}

TEST(Tables, WithoutResultsHasNoColumnsAndSaysSo) {
  const Table table = Build("table1", {});
  EXPECT_TRUE(table.columns.empty());
  EXPECT_NE(table.caption.find("no results"), std::string::npos);
  for (const TableFormat& format : TableFormats()) EXPECT_FALSE(RenderTables({table}, format.name).empty());
}

TEST(Tables, TheSameRunTwiceIsAnErrorThatNamesBothFiles) {
  RunResults first = RunOf("copy", "tra", 7, {Em("iid", 1)}), second = first;
  first.file = "b/results.json";
  second.file = "a/results.json";
  second.step = 1;
  try {
    Build("table1", {first, second});
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "a/results.json and b/results.json: both are task 'copy', attention 'tra', label '', seed 7; leave one "
        "out, or tell them apart by label");
  }
  second.label = "other";
  EXPECT_NO_THROW(Build("table1", {first, second}));
}

TEST(Tables, DifferentStepsAreAFootnote) {
  std::vector<RunResults> runs = {RunOf("copy", "rope", 1, {Em("iid", 1)}), RunOf("copy", "tra", 1, {Em("iid", 1)}),
                                  RunOf("copy", "tra", 2, {Em("iid", 1)}), RunOf("flipflop", "tra", 1, {Em("iid", 1)})};
  runs[3].step = 9;  // another task may have another number of steps
  EXPECT_TRUE(Build("table1", runs).footnotes.empty());
  runs[2].step = 300;
  EXPECT_EQ(Build("table1", runs).footnotes, Strings{"copy: runs are at different steps: 300 (TRA), 2000 (RoPE, TRA)"});
}

TEST(Tables, PerplexitiesSayTheirTokenizerAndStride) {
  std::vector<RunResults> runs = {RunOf("text", "rope", 1, {Perplexity(128, 31)}),
                                  RunOf("text", "tra", 1, {Perplexity(128, 30)})};
  EXPECT_NE(Build("table3", runs).caption.find("; tokenizer not recorded; stride not recorded"), std::string::npos);
  for (RunResults& run : runs) run.context = {{"corpus", "wikitext-103"}, {"stride", 64}, {"tokenizer", "gpt2"}};
  Table table = Build("table3", runs);
  EXPECT_NE(table.caption.find("; tokenizer gpt2; stride 64; corpus wikitext-103"), std::string::npos);
  EXPECT_TRUE(table.footnotes.empty());
  runs[1].context["stride"] = 128;
  table = Build("windows", runs);
  EXPECT_EQ(table.caption.find("stride"), std::string::npos);
  EXPECT_EQ(table.footnotes, Strings{"numbers can be compared only with the same stride: 128 (TRA), 64 (RoPE)"});
}

TEST(Tables, WindowsHavePerplexitiesAndBitsFrom128To4096) {
  const TableSpec& spec = Spec("windows");
  ASSERT_EQ(spec.lines.size(), 18u);
  EXPECT_EQ(spec.lines.front().label, "Window 128, per token");
  EXPECT_EQ(spec.lines.back().label, "Window 4096, bits per byte");
  const Table table =
      Build("windows",
            {RunOf("text", "tra", 1,
                   {Perplexity(256, 29), Perplexity(256, 52, "ppl_word"), Perplexity(256, 1.25, "bits_per_byte")})});
  EXPECT_EQ(Line(table, "Window 256, bits per byte").cells.at(0).summary.mean, 1.25);
  EXPECT_EQ(Line(table, "Window 256, per token").cells.at(0).summary.mean, 29);
  EXPECT_EQ(Line(table, "Window 256, per word").cells.at(0).summary.mean, 52);
}

TEST(Tables, ThePapersNumbersStandApart) {
  const std::vector<RunResults> runs = {RunOf("copy", "tra", 1, {Em("51-100", 0.2)}),
                                        RunOf("copy", "tra", 1, {Em("51-100", 0.3)}, "wide"),
                                        RunOf("copy", "alibi", 1, {Em("51-100", 0.1)})};
  const Table without = Build("table1", runs), with = Build("table1", runs, /*paper=*/true);
  const TableLine& line = Line(with, "Copy OOD (51-100)");
  ASSERT_EQ(line.paper.size(), 3u);
  EXPECT_EQ(line.paper[0].value().mean, 100);
  EXPECT_FALSE(line.paper[1].has_value());  // once per attention
  EXPECT_FALSE(line.paper[2].has_value());
  EXPECT_EQ(Best(line), (Bools{false, true, false}));  // the best of ours, though the paper's is better
  EXPECT_EQ(Titles(with), Titles(without));
  EXPECT_TRUE(Line(without, "Copy OOD (51-100)").paper.empty());
  EXPECT_EQ(with.footnotes,
            Strings{"paper: mean ± std over 4 seeds as published, in the first column of each attention"});
}

TEST(Tables, BesideThePaperALineHasOurNumbersOrThePapers) {
  const Table table = Build("windows", {RunOf("text", "tra", 1, {Perplexity(256, 29)})}, /*paper=*/true);
  Strings labels;
  for (const TableLine& line : table.lines) labels.push_back(line.label);
  EXPECT_EQ(labels, (Strings{"Window 128, per token", "Window 256, per token"}));
}

TEST(Tables, GenericTableHasALineForEverythingFound) {
  const std::vector<RunResults> runs = {
      RunOf("copy", "tra", 1, {Em("101-200", 1), Em("51-100", 1), {"51-100", "", 0, "token_error", 0.1, 5}}),
      RunOf("text", "tra", 1, {Perplexity(1024, 30), Perplexity(256, 30), Perplexity(256, 1, "sparsity")}),
      RunOf("copy", "rope", 1, {Em("51-100", 1), Em("iid", 1, "long")})};
  Strings labels;
  for (const LineSpec& line : GenericTable(runs).lines) labels.push_back(line.label);
  EXPECT_EQ(
      labels,
      (Strings{"copy 51-100: exact match, %", "copy 101-200: exact match, %", "copy iid long: exact match, %",
               "copy 51-100: token error, %", "text test, window 256: perplexity per token",
               "text test, window 1024: perplexity per token", "text test, window 256: sparsity", "copy solved"}));
}

TEST(Tables, OrderOfRunsChangesNothing) {
  std::vector<RunResults> runs = {
      RunOf("copy", "tra", 1, {Em("51-100", 0.1), Em("iid", 0.7)}), RunOf("copy", "tra", 2, {Em("51-100", 0.3)}),
      RunOf("copy", "alibi", 1, {Em("iid", 0.6)}), RunOf("text", "tra", 1, {Perplexity(128, 30)}, "wide"),
      RunOf("text", "rope", 1, {Perplexity(128, 31)})};
  runs[1].step = 5;
  runs[3].context = {{"tokenizer", "gpt2"}};
  const auto render = [&] {
    std::vector<Table> tables = {BuildTable(GenericTable(runs), runs, {true})};
    for (const TableSpec& spec : PaperTables()) tables.push_back(BuildTable(spec, runs, {true}));
    std::string text;
    for (const TableFormat& format : TableFormats()) text += RenderTables(tables, format.name);
    return text;
  };
  const std::string first = render();
  const auto by_file = [](const RunResults& a, const RunResults& b) { return a.file < b.file; };
  std::sort(runs.begin(), runs.end(), by_file);
  int permutations = 0;
  do {
    ASSERT_EQ(render(), first);
    ++permutations;
  } while (std::next_permutation(runs.begin(), runs.end(), by_file));
  EXPECT_EQ(permutations, 120);
}

TEST(Tables, PrintedNumbersAreRoundedAndStayShort) {
  EXPECT_EQ(Printed(99.996, 2), "100.00");
  EXPECT_EQ(Printed(0, 2), "0.00");
  EXPECT_EQ(Printed(123456.789, 2), "123456.79");
  EXPECT_EQ(Printed(1.5e300, 2), "1.50e+300");
  EXPECT_EQ(ShownValue(FindMetric("ppl_token"), 1.5e9), "1.50e+09");
  EXPECT_EQ(Printed(-kNan, 2), "nan");
  EXPECT_EQ(Printed(std::numeric_limits<double>::infinity(), 2), "inf");
}

}  // namespace
}  // namespace tra
