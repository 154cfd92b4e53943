#include "tra/report/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "tra/report/paper.h"
#include "tra/report/series_style.h"
#include "tra/report/svg.h"

namespace tra {
namespace {

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Chart Two() {
  Chart chart;
  chart.title = "a < b & c";
  chart.y = {"", 0, 100};
  chart.panels = {{"one", {{"tra", {{0, 0}, {10, 100}}}, {"rope", {{0, 50}, {10, 25}}}}},
                  {"two", {{"rope", {{5, 50}}}}}};
  return chart;
}

TEST(Chart, PutsPointsWhereTheyBelong) {
  const std::string svg = ChartSvg(Two());
  // The plot of the first panel is 260 by 200 pixels from (58, 72) on.
  EXPECT_NE(svg.find("d=\"M58.0 272.0 L318.0 72.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("d=\"M58.0 172.0 L318.0 222.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("d=\"M488.0 172.0\""), std::string::npos) << svg;  // the second panel begins at 358
  EXPECT_EQ(Count(svg, "<title>tra: "), 2U);                            // a marker says what it is
  EXPECT_EQ(Count(svg, "<title>rope: "), 3U);
  EXPECT_NE(svg.find("<title>rope: 25 at 10</title>"), std::string::npos) << svg;
}

TEST(Chart, ANameHasOneColourInAllPanels) {
  const std::string svg = ChartSvg(Two());
  // A colour is that of a line in the legend, of the lines, and of the border and inside of every marker.
  EXPECT_EQ(Count(svg, "#0072B2"), 1 + 1 + 2 * 3U);  // tra: one line, two points and that of the legend
  EXPECT_EQ(Count(svg, "#D55E00"), 1 + 2 + 2 * 4U);  // rope: two lines, three points and that of the legend
}

TEST(Chart, TextIsEscaped) {
  const std::string svg = ChartSvg(Two());
  EXPECT_EQ(svg.find("a < b"), std::string::npos);
  EXPECT_EQ(Count(svg, "a &lt; b &amp; c"), 2U);
}

TEST(Chart, WhatIsNotFiniteBreaksTheLineAndIsWrittenOnce) {
  Chart chart;
  chart.panels = {{"", {{"x", {{0, 0}, {1, std::nan("")}, {2, 1}, {3, 1}}}}}};
  const std::string svg = ChartSvg(chart);
  EXPECT_EQ(Count(svg, "nan"), 0U);
  EXPECT_EQ(Count(svg, ">NaN<"), 1U);
  EXPECT_EQ(Count(svg, " M"), 1U) << svg;
  EXPECT_EQ(Count(svg, " L"), 1U);
}

TEST(Chart, InfinitiesStandAtTheTopAboveEachOther) {
  const double infinity = std::numeric_limits<double>::infinity();
  Chart chart;
  chart.panels = {{"", {{"a", {{0, 1}, {1, infinity}, {2, infinity}}}, {"b", {{0, 2}, {1, -infinity}}}}}};
  const std::string svg = ChartSvg(chart);
  EXPECT_EQ(Count(svg, ">∞<"), 1U) << svg;  // once for values that follow each other
  EXPECT_EQ(Count(svg, ">−∞<"), 1U) << svg;
  EXPECT_NE(svg.find("x=\"188.0\" y=\"83.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("x=\"188.0\" y=\"94.0\""), std::string::npos) << svg;
  EXPECT_EQ(Count(svg, "inf"), 0U);  // no coordinate is
}

TEST(Chart, LogarithmicAxesPutFactorsAtEqualDistances) {
  Chart chart;
  chart.x = {"window", 0, 0, Scale::kLog2};
  chart.y = {"perplexity", 1, 100, Scale::kLog10};
  chart.panels = {{"", {{"x", {{128, 1}, {512, 10}, {2048, 100}}}}}};
  EXPECT_NE(ChartSvg(chart).find("d=\"M58.0 272.0 L188.0 172.0 L318.0 72.0\""), std::string::npos);
}

TEST(Chart, ABandEndsWhereItIsNotKnown) {
  Chart chart;
  chart.y = {"", 0, 100};
  const double nan = std::nan("");
  chart.panels = {{"", {{"x", {{0, 50}, {1, nan}, {2, 50}, {3, 50}}, {{40, 60}, {nan, nan}, {40, 60}, {40, 60}}}}}};
  EXPECT_EQ(Count(ChartSvg(chart), "fill-opacity"), 2U);
}

TEST(Chart, PanelsMayHaveAxesOfTheirOwnAndStandInRows) {
  Chart chart = Two();
  chart.columns = 1;
  chart.panels[1].x = Axis{"other steps", 0, 10};
  const std::string svg = ChartSvg(chart);
  EXPECT_EQ(Count(svg, "other steps"), 1U);
  // 5 is in the middle; the second row begins 276 pixels below the first.
  EXPECT_NE(svg.find("d=\"M188.0 448.0\""), std::string::npos) << svg;
}

TEST(Chart, LongLinesHaveFewMarkers) {
  Chart chart;
  Series series = {"x", {}};
  for (int i = 0; i < 200; ++i) series.points.emplace_back(i, i);
  chart.panels = {{"", {series}}};
  EXPECT_LE(Count(ChartSvg(chart), "class=\"marker\""), 12U);
}

TEST(Chart, NineLinesDifferInColourAndInDashesOrMarker) {
  std::set<std::string> colors, dark_colors, shapes;
  for (size_t i = 0; i < kSeriesStyles; ++i) {
    const SeriesStyle style = StyleNumber(i);
    colors.insert(style.color);
    dark_colors.insert(style.dark_color);
    shapes.insert(std::string(style.dashes) + style.marker + (style.filled ? "filled" : ""));
  }
  EXPECT_EQ(colors.size(), kSeriesStyles);
  EXPECT_EQ(dark_colors.size(), kSeriesStyles);
  EXPECT_EQ(shapes.size(), kSeriesStyles);
  std::set<std::string> all;
  for (size_t i = 0; i < kSeriesStyles * kSeriesStyles; ++i) {
    const SeriesStyle style = StyleNumber(i);
    all.insert(std::string(style.color) + style.dashes + style.marker + (style.filled ? "filled" : ""));
  }
  EXPECT_EQ(all.size(), kSeriesStyles * kSeriesStyles);  // so do those after them
  std::set<size_t> of_attentions;
  for (const PaperAttention& each : kPaperAttentions) of_attentions.insert(StyleOfAttention(each.name));
  EXPECT_EQ(of_attentions.size(), kPaperAttentions.size());
}

TEST(Chart, PointsOfAScatterPlotAreNotJoined) {
  Chart chart;
  chart.panels = {{"", {{"heads", {{2, 0}, {1, 1}, {2, 1}}}}}};
  chart.panels[0].series[0].joined = false;
  const std::string svg = ChartSvg(chart);
  EXPECT_EQ(Count(svg, "stroke-dasharray"), 0U);
  EXPECT_EQ(Count(svg, "class=\"marker\""), 3 + 1U);  // and that of the legend
}

TEST(Chart, ALongLegendAndCaptionAreWrappedWithinThePicture) {
  Chart chart = Two();
  chart.panels.pop_back();
  chart.caption = "a caption that is longer than the picture is wide, and which must not be cut off at its right end";
  for (int i = 0; i < 9; ++i) chart.panels[0].series.push_back({"setting number " + std::to_string(i), {{0, 1}}});
  const std::string svg = ChartSvg(chart);
  EXPECT_EQ(svg.find("longer than the picture is wide, and which must not be cut off"), std::string::npos);
  EXPECT_NE(svg.find("width=\"334.0\""), std::string::npos) << svg.substr(0, 200);
  EXPECT_EQ(Count(svg, "setting number"), 2 * 9U);  // in the legend and at a point
}

TEST(Chart, ABandGoesAlongItsUpperEdgeAndBackAlongTheLower) {
  Chart chart;
  chart.y = {"", 0, 100};
  chart.panels = {{"", {{"x", {{0, 50}, {10, 75}}, {{0, 100}, {50, 100}}}}}};
  const std::string svg = ChartSvg(chart);
  EXPECT_NE(svg.find("d=\"M58.0 72.0 L318.0 72.0 L318.0 172.0 L58.0 272.0 Z\""), std::string::npos) << svg;
  chart.panels[0].series[0].band.pop_back();
  EXPECT_THROW(ChartSvg(chart), std::invalid_argument);
}

TEST(Chart, RefusesWhatCannotBeDrawn) {
  Chart chart = Two();
  chart.y.low = 200;
  EXPECT_THROW(ChartSvg(chart), std::invalid_argument);
  EXPECT_THROW(ChartSvg(Chart()), std::invalid_argument);
}

TEST(Ticks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(Ticks(0, 100), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(Ticks(50, 500), (std::vector<double>{100, 200, 300, 400, 500}));
  EXPECT_FALSE(std::signbit(Ticks(0, 100)[0]));  // not "-0"
  for (const double high : {0.003, 1.0, 7.0, 31250.0}) {
    const auto ticks = Ticks(0, high);
    EXPECT_GE(ticks.size(), 4U) << high;
    EXPECT_LE(ticks.size(), 8U) << high;
  }
}

TEST(Chart, LongLabelsOfTicksMoveThePlotAndTheLabelOfTheAxis) {
  Chart chart;
  chart.y.label = "perplexity";
  chart.y.low = 44.814;
  chart.y.high = 44.842;
  chart.panels = {{"", {{"TRA", {{1, 44.815}, {2, 44.841}}}}}};
  const std::string drawn = ChartSvg(chart);
  EXPECT_NE(drawn.find(">44.815</text>"), std::string::npos) << drawn;
  const auto x_of = [&](const std::string& text) {
    const size_t end = drawn.find(">" + text + "</text>"), begin = drawn.rfind("<text x=\"", end);
    return std::stod(drawn.substr(begin + 9));
  };
  EXPECT_LT(x_of("perplexity"), x_of("44.815") - svg::TextWidth("44.815", 12)) << drawn;
}

}  // namespace
}  // namespace tra
