#include "tra/report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace tra {
namespace {

// The sizes of a panel's plot and of what is around it, in pixels.
constexpr double kWidth = 260, kHeight = 200, kGap = 40, kLeft = 58, kRight = 16, kTop = 72, kBottom = 48;

// Seven of Okabe and Ito's colours, which can be told apart with any kind of colour vision, and two more; dashes help
// in print without colour.
struct Stroke {
  const char *color, *dashes;
};
constexpr Stroke kStrokes[] = {
    {"#0072B2", "none"}, {"#D55E00", "6 3"}, {"#009E73", "2 2"},  {"#CC79A7", "8 3 2 3"}, {"#E69F00", "10 4"},
    {"#56B4E9", "4 2"},  {"#000000", "1 3"}, {"#999999", "none"}, {"#7A5195", "5 5"},
};

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string Pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string Text(double x, double y, const char* anchor, const std::string& text, const std::string& more = "") {
  return "<text x=\"" + Pixels(x) + "\" y=\"" + Pixels(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" +
         Escaped(text) + "</text>\n";
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1=\"" + Pixels(x1) + "\" y1=\"" + Pixels(y1) + "\" x2=\"" + Pixels(x2) + "\" y2=\"" + Pixels(y2) +
         "\" " + style + "/>\n";
}

std::string StrokeStyle(const Stroke& stroke) {
  return "fill=\"none\" stroke=\"" + std::string(stroke.color) + "\" stroke-width=\"2\" stroke-dasharray=\"" +
         stroke.dashes + "\"";
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    if (!(chart.y_low < chart.y_high)) throw std::invalid_argument("chart: y_low must be below y_high");
    bool any = false;
    for (const Panel& panel : chart.panels) {
      for (const Series& series : panel.series) {
        if (std::find(names_.begin(), names_.end(), series.name) == names_.end()) names_.push_back(series.name);
        for (const auto& [x, y] : series.points) {
          x_low_ = any ? std::min(x_low_, x) : x;
          x_high_ = any ? std::max(x_high_, x) : x;
          any = true;
        }
      }
    }
    if (!any) throw std::invalid_argument("chart: there are no points to draw");
    if (x_low_ == x_high_) x_high_ = x_low_ + 1;
  }

  std::string Svg() {
    const auto panels = static_cast<double>(chart_.panels.size());
    const double width = kLeft + panels * kWidth + (panels - 1) * kGap + kRight, height = kTop + kHeight + kBottom;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + Pixels(width) + "\" height=\"" +
                      Pixels(height) + "\" viewBox=\"0 0 " + Pixels(width) + " " + Pixels(height) +
                      "\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>" + Escaped(chart_.title) +
                      "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
                      Text(kLeft, 20, "start", chart_.title, " font-size=\"14\" font-weight=\"bold\"") + Legend();
    const double middle = kTop + kHeight / 2;
    out += Text(16, middle, "middle", chart_.y_label, " transform=\"rotate(-90 16 " + Pixels(middle) + ")\"");
    for (size_t i = 0; i < chart_.panels.size(); ++i) {
      DrawPanel(chart_.panels[i], kLeft + static_cast<double>(i) * (kWidth + kGap), i == 0, out);
    }
    return out + "</svg>\n";
  }

 private:
  std::string Legend() const {
    std::string out;
    double x = kLeft;
    for (size_t i = 0; i < names_.size(); ++i) {
      out += Line(x, 36, x + 28, 36, StrokeStyle(kStrokes[i % std::size(kStrokes)]));
      out += Text(x + 34, 40, "start", names_[i]);
      x += 50 + 8 * static_cast<double>(names_[i].size());
    }
    return out;
  }

  double X(double x, double left) const { return left + (x - x_low_) / (x_high_ - x_low_) * kWidth; }
  double Y(double y) const {
    const double share = (std::clamp(y, chart_.y_low, chart_.y_high) - chart_.y_low) / (chart_.y_high - chart_.y_low);
    return kTop + (1 - share) * kHeight;
  }

  void DrawPanel(const Panel& panel, double left, bool first, std::string& out) const {
    out += Text(left + kWidth / 2, kTop - 10, "middle", panel.title);
    for (const double tick : Ticks(chart_.y_low, chart_.y_high)) {
      out += Line(left, Y(tick), left + kWidth, Y(tick), "stroke=\"#DDDDDD\"");
      if (first) out += Text(left - 6, Y(tick) + 4, "end", Number(tick));
    }
    for (const double tick : Ticks(x_low_, x_high_)) {
      out += Line(X(tick, left), kTop + kHeight, X(tick, left), kTop + kHeight + 4, "stroke=\"#888888\"");
      out += Text(X(tick, left), kTop + kHeight + 18, "middle", Number(tick));
    }
    out += Line(left, kTop + kHeight, left + kWidth, kTop + kHeight, "stroke=\"#888888\"");
    out += Text(left + kWidth / 2, kTop + kHeight + 38, "middle", chart_.x_label);
    for (const Series& series : panel.series) {
      const auto number = static_cast<size_t>(std::find(names_.begin(), names_.end(), series.name) - names_.begin());
      DrawSeries(series, left, kStrokes[number % std::size(kStrokes)], out);
    }
  }

  void DrawBand(const Series& series, double left, const Stroke& stroke, std::string& out) const {
    if (series.band.empty()) return;
    if (series.band.size() != series.points.size()) throw std::invalid_argument("chart: a band needs as many points");
    std::string there, back;  // along the upper edge, and back along the lower one
    for (size_t i = 0; i < series.points.size(); ++i) {
      const auto [low, high] = series.band[i];
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const std::string x = Pixels(X(series.points[i].first, left));
      there += (there.empty() ? "M" : " L") + x + " " + Pixels(Y(high));
      back.insert(0, " L" + x + " " + Pixels(Y(low)));
    }
    if (there.empty()) return;
    out += "<path d=\"" + there + back + " Z\" fill=\"" + stroke.color + "\" fill-opacity=\"0.15\"/>\n";
  }

  void DrawSeries(const Series& series, double left, const Stroke& stroke, std::string& out) const {
    DrawBand(series, left, stroke, out);
    std::string path;
    bool pen = false;
    for (const auto& [x, y] : series.points) {
      if (std::isfinite(y)) {
        path += (pen ? " L" : path.empty() ? "M" : " M") + Pixels(X(x, left)) + " " + Pixels(Y(y));
        out += "<circle cx=\"" + Pixels(X(x, left)) + "\" cy=\"" + Pixels(Y(y)) + "\" r=\"2.5\" fill=\"" +
               stroke.color + "\"><title>" + Escaped(series.name) + ": " + Number(y) + " at " + Number(x) +
               "</title></circle>\n";
      }
      pen = std::isfinite(y);
    }
    if (!path.empty() && series.joined) out += "<path d=\"" + path + "\" " + StrokeStyle(stroke) + "/>\n";
  }

  const Chart& chart_;
  std::vector<std::string> names_;
  double x_low_ = 0, x_high_ = 0;
};

}  // namespace

std::vector<double> Ticks(double low, double high) {
  const double rough = (high - low) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  std::vector<double> ticks;
  // Multiplies instead of adding up, since rounding would lose the last tick. + 0.0 turns -0 into 0.
  for (double n = std::ceil(low / step - 1e-9) + 0.0; n * step <= high + step * 1e-9; ++n) ticks.push_back(n * step);
  return ticks;
}

std::string ChartSvg(const Chart& chart) { return Drawing(chart).Svg(); }

}  // namespace tra
