#include "tra/report/heatmap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "tests/report/pixels.h"
#include "tra/report/colors.h"
#include "tra/report/picture.h"

namespace tra {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Makes a causal map of one panel with a linear scale of 0 to 1.
Heatmap Causal(size_t tokens) {
  Heatmap map;
  map.title = "a < b";
  for (size_t i = 0; i < tokens; ++i) map.query_tokens.push_back(std::to_string(i % 10));
  map.key_tokens = map.query_tokens;
  HeatRow row;
  HeatPanel panel;
  for (size_t q = 0; q < tokens; ++q) {
    for (size_t k = 0; k < tokens; ++k) {
      row.states.push_back(k > q ? CellState::kFuture : CellState::kKept);
      panel.values.push_back(static_cast<float>(k) / static_cast<float>(tokens));
    }
  }
  row.panels.push_back(panel);
  map.rows.push_back(row);
  return map;
}

// Returns an attribute, a number, of the first element that begins so.
size_t Attribute(const std::string& svg, const std::string& element, const std::string& name) {
  const size_t start = svg.find(element), at = svg.find(" " + name + "=\"", start) + name.size() + 3;
  EXPECT_NE(start, std::string::npos) << element;
  return std::stoul(svg.substr(at));
}

constexpr char kMatrix[] = "<image class=\"matrix\"";

// Checks the pixel in the middle of every cell, and those in its corners.
void ExpectCells(const Heatmap& map, const std::function<Rgba(size_t query, size_t key)>& wanted) {
  const std::string svg = HeatmapSvg(map);
  Image drawn = DecodePng(SvgToPng(svg));
  const size_t left = Attribute(svg, kMatrix, "x"), top = Attribute(svg, kMatrix, "y");
  const size_t keys = map.key_tokens.size(), queries = map.query_tokens.size();
  const size_t cell = Attribute(svg, kMatrix, "width") / keys;
  ASSERT_EQ(Attribute(svg, kMatrix, "width"), cell * keys);
  ASSERT_EQ(Attribute(svg, kMatrix, "height"), cell * queries);
  for (size_t q = 0; q < queries; ++q) {
    for (size_t k = 0; k < keys; ++k) {
      for (const size_t x : {2 * cell * k, 2 * cell * k + cell, 2 * cell * (k + 1) - 1}) {
        for (const size_t y : {2 * cell * q, 2 * cell * q + cell, 2 * cell * (q + 1) - 1}) {
          const Rgba got = drawn.At(2 * left + x, 2 * top + y), want = wanted(q, k);
          ASSERT_TRUE(got == want) << q << " " << k << ": " << HexColor(got) << " for " << HexColor(want);
        }
      }
    }
  }
}

TEST(Heatmap, EveryPixelOfACellHasItsColourInAPng) {
  for (const size_t tokens : {1, 5, 16, 64, 200}) {
    const Heatmap map = Causal(tokens);
    ExpectCells(map, [&](size_t q, size_t k) {
      return k > q ? kFutureColor : SequentialColor(map.rows[0].panels[0].values[q * tokens + k]);
    });
  }
}

TEST(Heatmap, ReasonsForNoWeightHaveTheirOwnColours) {
  Heatmap map = Causal(4);
  HeatRow& row = map.rows[0];
  row.states[4] = CellState::kDropped;
  row.panels[0].values[5] = kNan;
  row.panels[0].values[10] = -std::numeric_limits<float>::infinity();
  row.panels[0].values[15] = std::numeric_limits<float>::infinity();
  ExpectCells(map, [&](size_t q, size_t k) {
    if (k > q) return kFutureColor;
    if (q == 1) return k == 0 ? kDroppedColor : kNanColor;
    if (q == 2 && k == 2) return SequentialColor(0);
    return SequentialColor(q == 3 && k == 3 ? 1 : static_cast<double>(k) / 4);
  });
  const std::string svg = HeatmapSvg(map);
  EXPECT_NE(svg.find("dropped by the threshold: weight exactly 0"), std::string::npos);
  EXPECT_NE(svg.find("not a number (1 times)"), std::string::npos);
  EXPECT_EQ(svg.find("skipped by the early stop"), std::string::npos);  // there is none
}

TEST(Heatmap, SkippedKeysAreStripedWhereTheyHaveNoValue) {
  Heatmap map = Causal(3);
  HeatRow& row = map.rows[0];
  row.states[6] = CellState::kSkipped;
  row.panels[0].values[6] = 0.5f;
  ExpectCells(map, [](size_t q, size_t k) {
    return k > q ? kFutureColor : SequentialColor(q == 2 && k == 0 ? 0.5 : static_cast<float>(k) / 3.0f);
  });
  row.panels[0].skipped_too = false;
  const std::string svg = HeatmapSvg(map);
  EXPECT_NE(svg.find("skipped by the early stop: weight exactly 0"), std::string::npos);
  Image drawn = DecodePng(SvgToPng(svg));
  const size_t cell = Attribute(svg, kMatrix, "width") / 3;
  const size_t left = 2 * Attribute(svg, kMatrix, "x"), top = 2 * Attribute(svg, kMatrix, "y") + 4 * cell;
  size_t stripe = 0, other = 0;
  for (size_t y = 0; y < 2 * cell; ++y) {
    for (size_t x = 0; x < 2 * cell; ++x) {
      const Rgba got = drawn.At(left + x, top + y);
      stripe += got == kSkippedStripe ? 1 : 0;
      other += got == kSkippedColor ? 1 : 0;
    }
  }
  EXPECT_EQ(stripe + other, 4 * cell * cell);
  EXPECT_EQ(stripe, cell * cell);
}

TEST(Heatmap, TheSquareRootShowsSmallWeightsAndItsBarSaysSo) {
  Heatmap map = Causal(2);
  HeatPanel& panel = map.rows[0].panels[0];
  panel.values = {0.04f, 0, 0.25f, 1};
  panel.scale = ColorScale::kSquareRoot;
  panel.unit = "weight, on a square-root scale";
  ExpectCells(map, [](size_t q, size_t k) {
    return k > q ? kFutureColor : SequentialColor(q == 0 ? std::sqrt(0.04f) : k == 0 ? 0.5 : 1);
  });
  const std::string svg = HeatmapSvg(map);
  EXPECT_NE(svg.find(">weight, on a square-root scale<"), std::string::npos);
  EXPECT_NE(svg.find(">0.2<"), std::string::npos);
}

TEST(Heatmap, ADifferenceShowsItsSign) {
  Heatmap map = Causal(2);
  HeatPanel& panel = map.rows[0].panels[0];
  panel.values = {-0.5f, 0, 0, 1};
  panel.diverging = true;
  panel.low = -1;
  ExpectCells(map, [](size_t q, size_t k) {
    return k > q ? kFutureColor : DivergingColor(q == 0 ? 0.25 : k == 0 ? 0.5 : 1);
  });
}

TEST(Heatmap, TokensAreLabelsWhereTheyFitAndPositionsAreTicksElsewhere) {
  Heatmap map = Causal(16);
  map.first_query = map.first_key = 100;
  map.query_tokens[3] = map.key_tokens[3] = "<w>";
  const std::string small = HeatmapSvg(map);
  EXPECT_EQ(Count(small, ">&lt;w&gt;</text>"), 2U) << small;
  EXPECT_GE(Count(small, ">110</text>"), 2U);
  EXPECT_EQ(small.find("a < b"), std::string::npos);
  const std::string large = HeatmapSvg(Causal(512));
  EXPECT_EQ(Attribute(large, kMatrix, "width"), 512U);
  EXPECT_EQ(Count(large, ">3</text>"), 0U);
  EXPECT_GE(Count(large, ">200</text>"), 2U);
}

TEST(Heatmap, AllPanelsOfAllRowsAreDrawnWithTheirBars) {
  Heatmap map = Causal(8);
  map.rows[0].panels.resize(3, map.rows[0].panels[0]);
  map.rows.push_back(map.rows[0]);
  map.rows[1].panels.pop_back();
  map.rows[1].title = "the second";
  const std::string svg = HeatmapSvg(map);
  EXPECT_EQ(Count(svg, kMatrix), 5U);
  EXPECT_EQ(Count(svg, "<image class=\"bar\""), 5U);
  EXPECT_EQ(Count(svg, ">the second</text>"), 1U);
}

TEST(Heatmap, QueriesBeforeAnswersAreMarkedRightOrWrong) {
  for (const size_t tokens : {8, 200}) {
    Heatmap map = Causal(tokens);
    map.rows[0].marks.assign(tokens, AnswerMark::kNone);
    map.rows[0].marks[2] = map.rows[0].marks[5] = AnswerMark::kRight;
    map.rows[0].marks[7] = AnswerMark::kWrong;
    const std::string svg = HeatmapSvg(map);
    EXPECT_NE(svg.find(">before an answer, which is predicted<"), std::string::npos);
    EXPECT_NE(svg.find(">before an answer, which is not predicted<"), std::string::npos);
    EXPECT_EQ(Count(svg, "class=\"right\""), 3U);  // and one in the legend
  }
}

TEST(Heatmap, ABarFitsTheValuesThatAreShown) {
  HeatPanel panel;
  panel.values = {-3, 100, kNan, 2, std::numeric_limits<float>::infinity()};
  const std::vector<CellState> states = {CellState::kSkipped, CellState::kDropped, CellState::kKept, CellState::kKept,
                                         CellState::kKept};
  const HeatPanel fitted = FittedPanel(panel, states);
  EXPECT_EQ(fitted.low, -3);
  EXPECT_EQ(fitted.high, 2);
  panel.skipped_too = false;
  EXPECT_EQ(FittedPanel(panel, states).low, 1.5);  // all the same: half a unit around it
  EXPECT_EQ(FittedPanel(panel, std::vector<CellState>(5, CellState::kFuture)).high, 1);
}

TEST(Heatmap, LabelsShowBlanksAndReplaceWhatIsNoText) {
  EXPECT_EQ(TokenLabel(" the"), "␣the");
  EXPECT_EQ(TokenLabel("\n\t"), "⏎⇥");
  EXPECT_EQ(TokenLabel("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(TokenLabel("ähnlicher"), "ähnliche…");
}

TEST(Heatmap, RefusesWhatCannotBeDrawn) {
  EXPECT_THROW(HeatmapSvg(Heatmap()), std::invalid_argument);
  Heatmap map = Causal(3);
  map.rows[0].states.pop_back();
  EXPECT_THROW(HeatmapSvg(map), std::invalid_argument);
  map = Causal(3);
  map.rows[0].marks.resize(2);
  EXPECT_THROW(HeatmapSvg(map), std::invalid_argument);
  map = Causal(3);
  map.rows[0].panels[0].high = 0;
  EXPECT_THROW(HeatmapSvg(map), std::invalid_argument);
  map = Heatmap();
  map.rows.resize(1);
  map.query_tokens.resize(1);
  map.key_tokens.resize(kMostCells + 1);
  EXPECT_THROW(HeatmapSvg(map), std::invalid_argument);
}

}  // namespace
}  // namespace tra
