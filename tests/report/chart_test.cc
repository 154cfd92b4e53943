#include "tra/report/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

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
  chart.y_high = 100;
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
  EXPECT_EQ(Count(svg, "<circle"), 5U);
}

TEST(Chart, ANameHasOneColourInAllPanels) {
  const std::string svg = ChartSvg(Two());
  EXPECT_EQ(Count(svg, "<path"), 3U);
  // A colour occurs once in the legend, and in every path and circle.
  EXPECT_EQ(Count(svg, "#0072B2"), 4U);  // tra: one line of two points
  EXPECT_EQ(Count(svg, "#D55E00"), 6U);  // rope: two lines, three points
}

TEST(Chart, TextIsEscaped) {
  const std::string svg = ChartSvg(Two());
  EXPECT_EQ(svg.find("a < b"), std::string::npos);
  EXPECT_EQ(Count(svg, "a &lt; b &amp; c"), 2U);
}

TEST(Chart, WhatIsNotFiniteBreaksTheLine) {
  Chart chart;
  chart.panels = {{"", {{"x", {{0, 0}, {1, std::nan("")}, {2, 1}, {3, 1}}}}}};
  const std::string svg = ChartSvg(chart);
  EXPECT_EQ(Count(svg, "nan"), 0U);
  EXPECT_EQ(Count(svg, " M"), 1U) << svg;
  EXPECT_EQ(Count(svg, " L"), 1U);
}

TEST(Chart, ABandGoesAlongItsUpperEdgeAndBackAlongTheLower) {
  Chart chart;
  chart.y_high = 100;
  chart.panels = {{"", {{"x", {{0, 50}, {10, 75}}, {{0, 100}, {50, 100}}}}}};
  const std::string svg = ChartSvg(chart);
  EXPECT_NE(svg.find("d=\"M58.0 72.0 L318.0 72.0 L318.0 172.0 L58.0 272.0 Z\""), std::string::npos) << svg;
  chart.panels[0].series[0].band.pop_back();
  EXPECT_THROW(ChartSvg(chart), std::invalid_argument);
}

TEST(Chart, RefusesWhatCannotBeDrawn) {
  Chart chart = Two();
  chart.y_low = 100;
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

}  // namespace
}  // namespace tra
