#include "tra/report/heatmap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tra/report/chart.h"
#include "tra/report/colors.h"
#include "tra/report/picture.h"
#include "tra/report/png.h"
#include "tra/report/svg.h"

namespace tra {
namespace {

using svg::Line;
using svg::Rect;
using svg::Text;

// Sizes in pixels. All that says where a matrix is drawn is a whole number, so that its cells are sharp.
constexpr size_t kPanel = 544, kLargestCell = 24, kLabelledCell = 8;
constexpr int kNarrowest = 216;                      // width of a panel, for its title and bar
constexpr int kMargin = 16, kGap = 36;               // around everything, between panels
constexpr int kRowTitle = 24, kPanelTitle = 22;      // above the matrices
constexpr int kBar = 10, kBarTop = 8, kBarAll = 56;  // a bar with what stands below it
constexpr int kMarks = 24;                           // to the right of a row
constexpr double kSmall = 11, kNormal = 12, kRowTitleFont = 13;
constexpr char kGrey[] = "stroke=\"#888888\"", kRightColor[] = "#00795A", kWrongColor[] = "#C04F00";
constexpr size_t kLongestLabel = 8;  // letters

// Replaces what is not UTF-8, which no viewer of SVG would read.
std::string Readable(const std::string& bytes) {
  using nlohmann::json;
  return json::parse(json(bytes).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// Draws on pixels, kPngScale for each unit, and returns the element that shows them.
template <typename ColorOf>
std::string ImageElement(const char* kind, int x, int y, size_t width, size_t height, const ColorOf& color_of) {
  Image image(width * kPngScale, height * kPngScale, kFutureColor);
  for (size_t py = 0; py < image.height; ++py) {
    for (size_t px = 0; px < image.width; ++px) image.At(px, py) = color_of(px / kPngScale, py / kPngScale);
  }
  return "<image class=\"" + std::string(kind) + "\" x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
         "\" width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) +
         "\" style=\"image-rendering:pixelated\" href=\"" + PngDataUri(image) + "\"/>\n";
}

// Returns how far a value is from the low end of the bar to the high one.
double ShareOf(const HeatPanel& panel, double value) {
  const auto shape = [&panel](double share) {
    share = std::clamp(share, 0.0, 1.0);
    return panel.scale == ColorScale::kSquareRoot ? std::sqrt(share) : share;
  };
  if (panel.diverging) return 0.5 + std::copysign(0.5 * shape(std::abs(value) / panel.high), value);
  return shape((value - panel.low) / (panel.high - panel.low));
}

Rgba ColorAt(const HeatPanel& panel, double share) {
  return panel.diverging ? DivergingColor(share) : SequentialColor(share);
}

bool ShowsValue(const HeatPanel& panel, CellState state) {
  return state == CellState::kKept || (state == CellState::kSkipped && panel.skipped_too);
}

// Returns the colour at a place of the drawing. Stripes run over its units, so that they can be seen at every size of
// cells.
Rgba PixelColor(const HeatPanel& panel, CellState state, float value, size_t x, size_t y) {
  if (ShowsValue(panel, state)) return std::isnan(value) ? kNanColor : ColorAt(panel, ShareOf(panel, value));
  switch (state) {
    case CellState::kDropped:
      return kDroppedColor;
    case CellState::kSkipped:
      return (x + y) % 4 == 0 ? kSkippedStripe : kSkippedColor;
    default:
      return kFutureColor;
  }
}

// Returns round numbers for the bar of a panel.
std::vector<double> BarTicks(const HeatPanel& panel) {
  if (panel.scale == ColorScale::kLinear) return Ticks(panel.low, panel.high);
  std::vector<double> ticks;
  for (const double share : {0.0, 0.05, 0.2, 0.5, 1.0}) {
    if (panel.diverging && share == 0.05) continue;  // there is half the room
    ticks.push_back(share * panel.high);
    if (panel.diverging && share > 0) ticks.push_back(-share * panel.high);
  }
  return ticks;
}

// Returns the distance between labelled positions: a round number of cells that is at least this many pixels.
size_t PositionStep(size_t cell, size_t pixels) {
  for (size_t power = 1;; power *= 10) {
    for (const size_t digit : {1, 2, 5}) {
      if (digit * power * cell >= pixels) return digit * power;
    }
  }
}

class Drawing {
 public:
  explicit Drawing(const Heatmap& map) : map_(map), queries_(map.query_tokens.size()), keys_(map.key_tokens.size()) {
    Check();
    cell_ = std::clamp<size_t>(kPanel / std::max(queries_, keys_), 1, kLargestCell);
    width_ = std::max(static_cast<int>(keys_ * cell_), kNarrowest);
    height_ = static_cast<int>(queries_ * cell_);
    label_font_ = std::min(kSmall, static_cast<double>(cell_));
    size_t columns = 1;
    for (const HeatRow& row : map.rows) columns = std::max(columns, row.panels.size());
    for (const auto& [tokens, longest] :
         {std::pair(&map.query_tokens, &query_label_), std::pair(&map.key_tokens, &key_label_)}) {
      if (cell_ < kLabelledCell) break;
      for (const std::string& token : *tokens)
        *longest = std::max(*longest, svg::TextWidth(TokenLabel(token), label_font_));
    }
    upwards_ = key_label_ > static_cast<double>(cell_);
    left_ = kMargin + 20 + 34 + static_cast<int>(std::ceil(query_label_));
    below_ = 20 + static_cast<int>(std::ceil(upwards_ ? key_label_ : key_label_ > 0 ? label_font_ : 0)) + kBarAll;
    const auto panels = static_cast<int>(columns);
    all_width_ = std::max(left_ + panels * width_ + (panels - 1) * kGap + kMarks + kMargin, 560);
    for (const HeatRow& row : map.rows) {
      const double title = svg::TextWidth(row.title, kRowTitleFont * 1.1);  // bold letters are wider
      all_width_ = std::max(all_width_, left_ + static_cast<int>(title) + kMargin);
    }
  }

  std::string Svg() const {
    std::string head;
    int y = kMargin;
    for (const auto& [text, size, weight] :
         {std::tuple(&map_.title, 15.0, " font-weight=\"bold\""), std::tuple(&map_.subtitle, kNormal, "")}) {
      for (const std::string& line : svg::Wrapped(Readable(*text), all_width_ - 2 * kMargin, size * 1.05)) {
        y += static_cast<int>(size) + 5;
        head += Text(kMargin, y - 4, "start", line, " font-size=\"" + svg::Pixels(size) + "\"" + weight);
      }
    }
    head += Legend(y);
    std::string body;
    for (const HeatRow& row : map_.rows) DrawRow(row, y, body);
    return svg::Begin(all_width_, y + kMargin / 2.0, Readable(map_.title)) + head + body + svg::kEnd;
  }

 private:
  void Check() const {
    if (queries_ == 0 || keys_ == 0 || map_.rows.empty())
      throw std::invalid_argument("heatmap: there is nothing to draw");
    if (queries_ > kMostCells || keys_ > kMostCells) {
      throw std::invalid_argument("heatmap: " + std::to_string(queries_) + " queries and " + std::to_string(keys_) +
                                  " keys are too many to draw; choose a part of at most " + std::to_string(kMostCells) +
                                  " each");
    }
    for (const HeatRow& row : map_.rows) {
      bool matches = row.states.size() == queries_ * keys_ && (row.marks.empty() || row.marks.size() == queries_);
      for (const HeatPanel& panel : row.panels) {
        matches = matches && panel.values.size() == queries_ * keys_;
        if (!(panel.low < panel.high)) throw std::invalid_argument("heatmap: a bar must begin below where it ends");
      }
      if (!matches) throw std::invalid_argument("heatmap: a matrix has not as many cells as there are tokens");
    }
  }

  // Moves y below what it returns.
  std::string Legend(int& y) const {
    std::array<size_t, 4> count = {};
    size_t nan = 0;
    bool right = false, wrong = false;
    for (const HeatRow& row : map_.rows) {
      for (const CellState state : row.states) ++count[static_cast<size_t>(state)];
      for (const AnswerMark mark : row.marks) {
        right = right || mark == AnswerMark::kRight;
        wrong = wrong || mark == AnswerMark::kWrong;
      }
      for (const HeatPanel& panel : row.panels) {
        for (size_t i = 0; i < row.states.size(); ++i)
          nan += ShowsValue(panel, row.states[i]) && std::isnan(panel.values[i]);
      }
    }
    const auto has = [&count](CellState state) { return count[static_cast<size_t>(state)] > 0; };
    std::string out;
    double x = kMargin;
    y += 14;
    const auto place = [&](const std::string& text) {  // a symbol of 14 pixels and its text
      const double width = 14 + 6 + svg::TextWidth(text, kNormal) + 14;
      if (x > kMargin && x + width > all_width_ - kMargin) {
        x = kMargin;
        y += 20;
      }
      out += Text(x + 20, y + 4, "start", text);
      x += width;
      return x - width;
    };
    const auto swatch = [&](const std::string& text, const std::string& fill) {
      const double at = place(text);
      out += Rect(at, y - 7, 14, 14, fill + " stroke=\"#888888\" stroke-width=\"0.5\"");
    };
    const auto fill = [](Rgba color) { return "fill=\"" + HexColor(color) + "\""; };
    if (has(CellState::kDropped)) swatch("dropped by the threshold: weight exactly 0", fill(kDroppedColor));
    if (has(CellState::kSkipped)) {
      out += "<defs><pattern id=\"skipped\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">" +
             Rect(0, 0, 4, 4, fill(kSkippedColor)) + "<path d=\"M0 4 L4 0\" stroke=\"" + HexColor(kSkippedStripe) +
             "\"/></pattern></defs>\n";
      swatch("skipped by the early stop: weight exactly 0", "fill=\"url(#skipped)\"");
    }
    if (has(CellState::kFuture)) swatch("the future", fill(kFutureColor));
    if (nan > 0) swatch("not a number (" + std::to_string(nan) + " times)", fill(kNanColor));
    const auto mark = [&](const std::string& text, AnswerMark kind) {
      const double at = place(text);
      out += Thin() ? ThinMark(at, y, kind, 2) : Mark(at + 7, y, kind, 4);
    };
    if (right) mark("before an answer, which is predicted", AnswerMark::kRight);
    if (wrong) mark("before an answer, which is not predicted", AnswerMark::kWrong);
    y += 14;
    return out;
  }

  static std::string Mark(double x, double y, AnswerMark mark, double size) {
    if (mark == AnswerMark::kRight) {
      return "<circle class=\"right\" cx=\"" + svg::Pixels(x) + "\" cy=\"" + svg::Pixels(y) + "\" r=\"" +
             svg::Pixels(size) + "\" fill=\"" + kRightColor + "\"/>\n";
    }
    const std::string style = "class=\"wrong\" stroke=\"" + std::string(kWrongColor) + "\" stroke-width=\"2\"";
    return Line(x - size, y - size, x + size, y + size, style) + Line(x - size, y + size, x + size, y - size, style);
  }

  // Rows may be too thin for symbols. Then lines mark them, which are longer where the model is wrong.
  bool Thin() const { return cell_ < 6; }

  static std::string ThinMark(double x, double y, AnswerMark mark, double width) {
    const bool right = mark == AnswerMark::kRight;
    return Line(x, y, x + (right ? 7 : 15), y,
                "class=\"" + std::string(right ? "right" : "wrong") + "\" stroke=\"" +
                    (right ? kRightColor : kWrongColor) + "\" stroke-width=\"" + svg::Pixels(width) + "\"");
  }

  // Marks the queries whose next token is an answer, to the right of the last matrix.
  void DrawMarks(const HeatRow& row, double x, int top, std::string& out) const {
    const auto cell = static_cast<double>(cell_);
    for (size_t i = 0; i < row.marks.size(); ++i) {
      if (row.marks[i] == AnswerMark::kNone) continue;
      const double y = top + (static_cast<double>(i) + 0.5) * cell;
      out +=
          Thin() ? ThinMark(x + 4, y, row.marks[i], cell) : Mark(x + 10, y, row.marks[i], std::min(0.32 * cell, 4.0));
    }
  }

  // Moves y below the row.
  void DrawRow(const HeatRow& row, int& y, std::string& out) const {
    if (!row.title.empty()) {
      y += kRowTitle;
      out += Text(left_, y - 4, "start", Readable(row.title),
                  " font-size=\"" + svg::Pixels(kRowTitleFont) + "\" font-weight=\"bold\"");
    }
    y += kPanelTitle;
    DrawQueries(y, out);
    int x = left_;
    for (const HeatPanel& panel : row.panels) {
      out += Text(x, y - 6, "start", panel.title);
      DrawMatrix(panel, row, x, y, out);
      DrawKeys(x, y + height_, out);
      DrawBar(panel, x, y + height_ + below_ - kBarAll + kBarTop, out);
      x += width_ + kGap;
    }
    DrawMarks(row, x - kGap - width_ + static_cast<double>(keys_ * cell_), y, out);
    y += height_ + below_;
  }

  void DrawMatrix(const HeatPanel& panel, const HeatRow& row, int x, int y, std::string& out) const {
    out += ImageElement("matrix", x, y, keys_ * cell_, queries_ * cell_, [&](size_t px, size_t py) {
      const size_t at = py / cell_ * keys_ + px / cell_;
      return PixelColor(panel, row.states[at], panel.values[at], px, py);
    });
    const auto right = static_cast<double>(x) + static_cast<double>(keys_ * cell_);
    out += Line(x - 0.5, y, x - 0.5, y + height_, kGrey);
    out += Line(x - 0.5, y + height_ + 0.5, right, y + height_ + 0.5, kGrey);
  }

  std::string LabelFont() const { return " font-size=\"" + svg::Pixels(label_font_) + "\""; }

  // Labels queries to the left of the first matrix: tokens where they fit, positions further out.
  void DrawQueries(int top, std::string& out) const {
    const auto cell = static_cast<double>(cell_);
    const auto center = [&](size_t i) { return top + (static_cast<double>(i) + 0.5) * cell; };
    if (query_label_ > 0) {
      for (size_t i = 0; i < queries_; ++i) {
        out += Text(left_ - 4, center(i) + 0.36 * label_font_, "end", TokenLabel(map_.query_tokens[i]), LabelFont());
      }
    }
    const double x = left_ - 12 - query_label_;
    const size_t step = PositionStep(cell_, 30);
    for (size_t i = 0; i < queries_; ++i) {
      const size_t position = map_.first_query + i;
      if (position % step != 0) continue;
      if (query_label_ == 0) out += Line(left_ - 5, center(i), left_ - 1, center(i), kGrey);
      out += Text(x, center(i) + 4, "end", std::to_string(position), " font-size=\"10\" fill=\"#666666\"");
    }
    const double middle = top + height_ / 2.0;
    out += Text(kMargin + 8, middle, "middle", "query", svg::Upwards(kMargin + 8, middle));
  }

  void DrawKeys(int left, int top, std::string& out) const {
    const auto cell = static_cast<double>(cell_);
    const auto center = [&](size_t i) { return left + (static_cast<double>(i) + 0.5) * cell; };
    if (key_label_ > 0) {
      for (size_t i = 0; i < keys_; ++i) {
        const std::string label = TokenLabel(map_.key_tokens[i]);
        const double x = center(i) + 0.36 * label_font_;
        out += upwards_ ? Text(x, top + 4, "end", label, LabelFont() + svg::Upwards(x, top + 4))
                        : Text(center(i), top + 2 + label_font_, "middle", label, LabelFont());
      }
    }
    const double y = top + (upwards_ ? key_label_ : key_label_ > 0 ? label_font_ : 0) + 16;
    const size_t step = PositionStep(cell_, 40);
    for (size_t i = 0; i < keys_; ++i) {
      const size_t position = map_.first_key + i;
      if (position % step != 0) continue;
      if (key_label_ == 0) out += Line(center(i), top + 1, center(i), top + 5, kGrey);
      out += Text(center(i), y, "middle", std::to_string(position), " font-size=\"10\" fill=\"#666666\"");
    }
  }

  void DrawBar(const HeatPanel& panel, int x, int y, std::string& out) const {
    const int width = std::min(width_, 320);
    out += ImageElement("bar", x, y, static_cast<size_t>(width), kBar, [&](size_t px, size_t /*py*/) {
      return ColorAt(panel, static_cast<double>(px) / (width - 1));
    });
    for (const double tick : BarTicks(panel)) {
      const double at = x + ShareOf(panel, tick) * width;
      out += Line(at, y + kBar, at, y + kBar + 3, kGrey);
      const std::string label = (panel.has_lower && tick <= panel.low ? "≤" : "") + Number(tick);
      out += Text(at, y + kBar + 14, "middle", label, " font-size=\"10\"");
    }
    out += Text(x, y + kBar + 28, "start", panel.unit, " font-size=\"11\" fill=\"#444444\"");
  }

  const Heatmap& map_;
  size_t queries_, keys_, cell_ = 1;
  int width_ = 0, height_ = 0;  // of a panel
  int left_ = 0, below_ = 0;    // what labels need beside and below the matrices
  int all_width_ = 0;
  double label_font_ = kSmall;
  double query_label_ = 0, key_label_ = 0;  // width of the longest label; 0: labels do not fit
  bool upwards_ = false;                    // keys' labels are turned
};

}  // namespace

std::string HeatmapSvg(const Heatmap& heatmap) { return Drawing(heatmap).Svg(); }

HeatPanel FittedPanel(HeatPanel panel, const std::vector<CellState>& states) {
  bool any = false;
  for (size_t i = 0; i < std::min(states.size(), panel.values.size()); ++i) {
    const double value = panel.values[i];
    if (!ShowsValue(panel, states[i]) || !std::isfinite(value)) continue;
    panel.low = any ? std::min(panel.low, value) : value;
    panel.high = any ? std::max(panel.high, value) : value;
    any = true;
  }
  if (!any) {
    panel.low = 0;
    panel.high = 1;
  } else if (panel.low == panel.high) {
    panel.low -= 0.5;
    panel.high += 0.5;
  }
  return panel;
}

std::string TokenLabel(const std::string& token) {
  std::string label;
  size_t letters = 0;
  for (const char c : Readable(token)) {
    if ((c & 0xC0) != 0x80 && ++letters > kLongestLabel) {
      label += "…";
      break;
    }
    label += c == ' ' ? "␣" : c == '\n' ? "⏎" : c == '\t' ? "⇥" : std::string(1, c);
  }
  return label;
}

}  // namespace tra
