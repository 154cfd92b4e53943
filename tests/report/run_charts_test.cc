#include "tra/report/run_charts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/report/runs.h"

namespace tra {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const ChartKind& Kind(const std::string& name) { return FindNamed("chart", name, ChartKinds()); }

ChartedRun Flipflop(const std::string& attention, uint64_t seed, double half_way, const std::string& label = "") {
  ChartedRun run;
  run.results = RunOf("flipflop", attention, seed, {Em("iid", 1), Em("2048-2048", half_way)}, label);
  run.curves["eval/iid/em"] = {{100, half_way}, {200, 1}};
  run.curves["eval/sparse/em"] = {{100, 0}, {200, half_way}};
  run.curves["train/loss"] = {{100, 1}, {200, 0.001}};
  run.split_lengths = {{"iid", {256, 256}}, {"sparse", {256, 256}}};
  run.trained_length = 256;
  run.length_unit = "instructions";
  return run;
}

ChartedRun Text(const std::string& attention, uint64_t seed, std::vector<ResultRow> rows) {
  ChartedRun run;
  run.results = RunOf("text", attention, seed, std::move(rows));
  run.trained_length = 128;
  return run;
}

template <typename Function>
std::string Refusal(Function&& function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool Says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Curves, AreExactMatchOnEachSplitByDefaultTheOneLikeTrainingFirst) {
  const Chart chart = Kind("curves").draw({Flipflop("tra", 1, 0.5)}, {});
  ASSERT_EQ(chart.panels.size(), 2U);
  EXPECT_EQ(chart.panels[0].title, "iid");
  EXPECT_EQ(chart.panels[1].title, "sparse");
  EXPECT_EQ(chart.y.label, "exact match, %");
  EXPECT_EQ(chart.y.high, 100);
  EXPECT_EQ(chart.panels[0].series[0].points, (Curve{{100, 50}, {200, 100}}));
  EXPECT_EQ(chart.caption, "One seed each.");
}

TEST(Curves, AreTheMeanWithABandOverSeeds) {
  const std::vector<ChartedRun> runs = {Flipflop("tra", 1, 0.25), Flipflop("tra", 2, 0.75), Flipflop("rope", 1, 0)};
  ChartOptions options;
  const Chart range = Kind("curves").draw(runs, options);
  ASSERT_EQ(range.panels[0].series.size(), 2U);
  EXPECT_EQ(range.panels[0].series[0].name, "RoPE");  // in the order of tables
  EXPECT_TRUE(range.panels[0].series[0].band.empty());
  const Series& tra = range.panels[0].series[1];
  EXPECT_EQ(tra.points, (Curve{{100, 50}, {200, 100}}));
  EXPECT_EQ(tra.band[0], std::make_pair(25.0, 75.0));
  EXPECT_TRUE(Says(range.caption, "from the lowest to the highest seed; n=1 to 2.")) << range.caption;

  options.band = Band::kDeviation;
  const Chart deviation = Kind("curves").draw(runs, options);
  EXPECT_NEAR(deviation.panels[0].series[1].band[0].first, 50 - 100 * std::sqrt(0.125), 1e-9);
  EXPECT_TRUE(Says(deviation.caption, "one standard deviation")) << deviation.caption;
  options.band = Band::kNone;
  EXPECT_TRUE(Kind("curves").draw(runs, options).panels[0].series[1].band.empty());
}

TEST(Curves, BandsOfMoreThanNineSettingsWouldHideEachOther) {
  std::vector<ChartedRun> runs;
  for (int setting = 0; setting < 10; ++setting) {
    for (const uint64_t seed : {1, 2}) runs.push_back(Flipflop("tra", seed, 0.5, "setting " + std::to_string(setting)));
  }
  EXPECT_TRUE(Kind("curves").draw(runs, {}).panels[0].series[0].band.empty());
  ChartOptions options;
  options.band = Band::kRange;
  EXPECT_FALSE(Kind("curves").draw(runs, options).panels[0].series[0].band.empty());
}

TEST(Curves, HaveTheAxisOfTheirMetric) {
  ChartOptions options;
  options.metrics = {"train/loss", "eval/iid/em"};
  const Chart chart = Kind("curves").draw({Flipflop("tra", 1, 1)}, options);
  ASSERT_EQ(chart.panels.size(), 2U);
  EXPECT_EQ(chart.panels[0].title, "training");
  EXPECT_EQ(chart.panels[0].y->label, "loss");
  EXPECT_EQ(chart.panels[0].y->scale, Scale::kLog10);  // it falls a thousandfold
  EXPECT_EQ(chart.panels[1].y->scale, Scale::kLinear);
  options.metrics = {"train/loss"};
  options.y = Scale::kLinear;
  EXPECT_EQ(Kind("curves").draw({Flipflop("tra", 1, 1)}, options).y.scale, Scale::kLinear);
}

TEST(Curves, AMetricThatNoRunHasIsRefusedWithTheNearest) {
  ChartOptions options;
  options.metrics = {"train/los"};
  const std::string said = Refusal([&] { Kind("curves").draw({Flipflop("tra", 1, 1)}, options); });
  EXPECT_TRUE(Says(said, "unknown metric 'train/los'; did you mean 'train/loss'?")) << said;
}

TEST(Curves, WhereARunEndsEarlyTheCaptionSaysSo) {
  ChartedRun early = Flipflop("tra", 1, 1), late = Flipflop("tra", 2, 1);
  early.curves["eval/iid/em"].pop_back();
  const Chart chart = Kind("curves").draw({early, late}, {});
  EXPECT_EQ(chart.panels[0].series[0].points.size(), 1U);
  EXPECT_TRUE(Says(chart.caption, "iid, TRA: drawn up to 100, the last that all of its runs have")) << chart.caption;
}

TEST(Curves, LongOnesAreThinnedOut) {
  ChartedRun run = Flipflop("tra", 1, 1);
  for (int step = 0; step < 5000; ++step) run.curves["train/loss"].emplace_back(step + 1000, 1.0);
  ChartOptions options;
  options.metrics = {"train/loss"};
  const Chart chart = Kind("curves").draw({run}, options);
  EXPECT_LE(chart.panels[0].series[0].points.size(), 250U);
  EXPECT_TRUE(Says(chart.caption, "the mean of several steps")) << chart.caption;
}

TEST(Grouping, SettingsAreToldApartByLabelAndAttentionsLookTheSameEverywhere) {
  const Chart one = Kind("curves").draw({Flipflop("tra", 1, 1, "heads=1"), Flipflop("tra", 1, 1, "heads=4")}, {});
  ASSERT_EQ(one.panels[0].series.size(), 2U);
  EXPECT_EQ(one.panels[0].series[0].name, "heads=1");  // the title says which attention
  EXPECT_EQ(one.title, "flipflop: exact match, % during training with TRA");
  EXPECT_NE(*one.panels[0].series[0].style, *one.panels[0].series[1].style);

  const Chart few = Kind("curves").draw({Flipflop("fot", 1, 1)}, {});
  const Chart more = Kind("curves").draw({Flipflop("fot", 1, 1), Flipflop("tra", 1, 1), Flipflop("ape", 1, 1)}, {});
  EXPECT_EQ(more.panels[0].series[1].name, "FoT");
  EXPECT_EQ(*few.panels[0].series[0].style, *more.panels[0].series[1].style);
}

TEST(Grouping, TheSameSeedTwiceIsRefused) {
  const std::string said = Refusal([] { Kind("curves").draw({Flipflop("tra", 1, 1), Flipflop("tra", 1, 0)}, {}); });
  EXPECT_TRUE(Says(said, "leave one out, or tell them apart by label")) << said;
}

TEST(Grouping, TasksHavePanelsOfTheirOwn) {
  ChartedRun copy = Flipflop("tra", 1, 1);
  copy.results.task = "copy";
  copy.curves["eval/iid/em"] = {{1000, 1}};
  copy.curves.erase("eval/sparse/em");
  const Chart chart = Kind("curves").draw({copy, Flipflop("tra", 1, 1)}, {});
  ASSERT_EQ(chart.panels.size(), 3U);
  EXPECT_EQ(chart.panels[0].title, "copy: iid");
  EXPECT_TRUE(chart.panels[0].x.has_value());  // tasks are trained for different numbers of steps
}

TEST(LengthsInNames, AreThoseThatEvaluationsWrite) {
  const auto plain = ReadSplitLengths("51-100"), named = ReadSplitLengths("sparse 20-20");
  ASSERT_TRUE(plain && named);
  EXPECT_EQ(plain->split, "");
  EXPECT_EQ(plain->lengths.low, 51);
  EXPECT_EQ(plain->lengths.high, 100);
  EXPECT_EQ(named->split, "sparse");
  EXPECT_EQ(named->lengths.high, 20);
  for (const char* other : {"iid", "", "5-", "-5", "5-4", "a-b", "1-2-3", "1e3-2000", "99999999999999999999-1"}) {
    EXPECT_FALSE(ReadSplitLengths(other)) << other;
  }
}

TEST(ByLength, SplitsAndOtherEvaluationsStandAtTheirLengths) {
  const Chart chart = Kind("lengths").draw({Flipflop("tra", 1, 0.5), Flipflop("tra", 2, 1)}, {});
  ASSERT_EQ(chart.panels.size(), 1U);  // sparse has one length only
  EXPECT_EQ(chart.panels[0].series[0].points, (Curve{{256, 100}, {2048, 75}}));
  EXPECT_EQ(chart.x.label, "length, instructions");
  ASSERT_EQ(chart.x.ticks.size(), 2U);
  EXPECT_EQ(chart.x.ticks[1].label, "2048");
  EXPECT_EQ(chart.x.mark->at, 256);
}

TEST(ByLength, RangesStandAtTheirMiddleAndThoseMadeOfOthersAreLeftOut) {
  ChartedRun run;
  run.results = RunOf("flipflop++", "tra", 1,
                      {Em("iid", 1), Em("51-500", 0.5), Em("51-100", 0.75), Em("101-200", 0.5), Em("201-500", 0.25)});
  run.split_lengths = {{"iid", {3, 50}}, {"51-500", {51, 500}}};
  const Chart chart = Kind("lengths").draw({run}, {});
  ASSERT_EQ(chart.panels.size(), 1U);
  EXPECT_EQ(chart.panels[0].series[0].points, (Curve{{26.5, 100}, {75.5, 75}, {150.5, 50}, {350.5, 25}}));
  EXPECT_EQ(chart.x.ticks[1].label, "51–100");
}

TEST(ByLength, ThereIsNothingToDrawAtOneLength) {
  ChartedRun run;
  run.results = RunOf("flipflop", "tra", 1, {Em("iid", 1)});
  run.split_lengths = {{"iid", {256, 256}}};
  EXPECT_TRUE(Kind("lengths").draw({run}, {}).panels.empty());
  EXPECT_TRUE(Says(Kind("lengths").missing, "tra eval RUN --lengths"));
}

TEST(ByWindow, PerplexityExplodesOnALogarithmicAxis) {
  const Chart chart =
      Kind("windows").draw({Text("rope", 1, {Perplexity(128, 30), Perplexity(256, 300), Perplexity(4096, 30000)}),
                            Text("tra", 1, {Perplexity(128, 30), Perplexity(256, 29), Perplexity(4096, 28)})},
                           {});
  EXPECT_EQ(chart.x.scale, Scale::kLog2);
  EXPECT_EQ(chart.y.scale, Scale::kLog10);
  ASSERT_EQ(chart.panels.size(), 1U);
  EXPECT_EQ(chart.panels[0].series[1].points, (Curve{{128, 30}, {256, 29}, {4096, 28}}));
  EXPECT_EQ(chart.x.mark->label, "trained on 128");
  ASSERT_EQ(chart.x.ticks.size(), 3U);

  const Chart calm = Kind("windows").draw({Text("tra", 1, {Perplexity(128, 30), Perplexity(256, 29)})}, {});
  EXPECT_EQ(calm.y.scale, Scale::kLinear);
  EXPECT_LT(calm.y.low, 29);
}

TEST(ByWindow, WhatIsNotFiniteIsKeptAndSaid) {
  const Chart chart = Kind("windows").draw({Text("rope", 1, {Perplexity(128, 30), Perplexity(256, kInfinity)}),
                                            Text("rope", 2, {Perplexity(128, 32), Perplexity(256, 40)}),
                                            Text("tra", 1, {Perplexity(128, std::nan("")), Perplexity(256, 29)})},
                                           {});
  const Series &rope = chart.panels[0].series[0], &tra = chart.panels[0].series[1];
  EXPECT_EQ(rope.points[0].second, 31);
  EXPECT_EQ(rope.points[1].second, kInfinity);
  EXPECT_EQ(rope.band[1].first, 40);
  EXPECT_TRUE(std::isnan(tra.points[0].second));
  EXPECT_TRUE(std::isfinite(chart.y.high));
  EXPECT_TRUE(Says(chart.caption, "not a number, or infinite")) << chart.caption;
  EXPECT_NE(ChartSvg(chart).find(">∞<"), std::string::npos);
}

TEST(ByWindow, UnknownMetricsAreRefused) {
  ChartOptions options;
  options.metrics = {"ppl_tokens"};
  const std::string said = Refusal([&] { Kind("windows").draw({Text("tra", 1, {Perplexity(128, 30)})}, options); });
  EXPECT_TRUE(Says(said, "unknown metric 'ppl_tokens'; did you mean 'ppl_token'?")) << said;
}

TEST(ByPosition, IsThatOfTheLongestWindowUnlessAskedForAnother) {
  const auto at = [](const char* group, int64_t window, double value) {
    return ResultRow{"test", group, window, "ppl_token", value, 10};
  };
  const std::vector<ChartedRun> runs = {
      Text("tra", 1, {at("at 1", 128, 90), at("at 2-3", 128, 60), at("at 0", 256, 500), at("at 2-3", 256, 61)})};
  const Chart longest = Kind("positions").draw(runs, {});
  ASSERT_EQ(longest.panels.size(), 1U);
  EXPECT_EQ(longest.panels[0].title, "test, window 256");
  EXPECT_EQ(longest.panels[0].series[0].points, (Curve{{1, 500}, {3.5, 61}}));  // from 1 on: a logarithm has no 0
  EXPECT_EQ(longest.x.ticks[0].label, "0");
  ChartOptions options;
  options.windows = {128};
  EXPECT_EQ(Kind("positions").draw(runs, options).panels[0].series[0].points, (Curve{{2, 90}, {3.5, 60}}));
  options.windows = {100};
  const std::string said = Refusal([&] { Kind("positions").draw(runs, options); });
  EXPECT_TRUE(Says(said, "there are windows of 128, 256")) << said;
}

TEST(RunCharts, EveryKindHasNothingForRunsWithoutNumbers) {
  ChartedRun run;
  run.results = RunOf("flipflop", "tra", 1, {});
  for (const ChartKind& kind : ChartKinds()) EXPECT_TRUE(kind.draw({run}, {}).panels.empty()) << kind.name;
}

}  // namespace
}  // namespace tra
