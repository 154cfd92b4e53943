#include "tra/report/chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "tra/report/series_style.h"
#include "tra/report/svg.h"
#include "tra/report/xml.h"

namespace tra {
namespace {

using svg::Line;
using svg::Pixels;
using svg::Text;
using svg::TextWidth;
using svg::Wrapped;

// The sizes of a panel's plot and of what is around it, in pixels; the label of the y axis stands kLabelOffset left of
// it.
constexpr double kWidth = 260, kHeight = 200, kGap = 40, kLeft = 58, kLabelOffset = 42, kRight = 16, kTop = 72,
                 kBottom = 48;
constexpr double kLegendRow = 20, kPanelTitle = 28, kCaptionLine = 15;

std::string StrokeStyle(const SeriesStyle& style) {
  return "fill=\"none\" stroke=\"" + std::string(style.color) + "\" stroke-width=\"2\" stroke-dasharray=\"" +
         style.dashes + "\"";
}

std::string Marker(double x, double y, const SeriesStyle& style, const std::string& title) {
  return "<path class=\"marker\" transform=\"translate(" + Pixels(x) + " " + Pixels(y) + ")\" d=\"" + style.marker +
         "\" stroke=\"" + style.color + "\" fill=\"" + (style.filled ? style.color : "white") + "\"" +
         (title.empty() ? "/>\n" : "><title>" + EscapeXml(title) + "</title></path>\n");
}

// Returns what stands at the top of the plot for a value that has no place in it.
const char* NotFinite(double y) { return std::isnan(y) ? "NaN" : y > 0 ? "∞" : "−∞"; }

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart), axes_(AxesOf(chart)), styles_(StylesOf(chart)) {
    if (styles_.empty()) throw std::invalid_argument("chart: there are no points to draw");
    columns_ = std::max<size_t>(1, std::min(chart.columns, chart.panels.size()));
    rows_ = (chart.panels.size() + columns_ - 1) / columns_;
    for (const Panel& panel : chart.panels) own_y_ = own_y_ || panel.y.has_value();
    // Long labels of ticks move the label of their axis, and the plot, to the right.
    double widest = 0;
    for (size_t i = 0; i < axes_.size(); ++i) {
      for (const Tick& tick : TicksOf(axes_[i].y)) widest = std::max(widest, TextWidth(tick.label, 12));
    }
    label_offset_ = std::max(kLabelOffset, widest + 17);
    left_ = kLeft + label_offset_ - kLabelOffset;
    gap_ = own_y_ ? kGap + 36 + label_offset_ - kLabelOffset : kGap;
    const auto columns = static_cast<double>(columns_);
    width_ = left_ + columns * kWidth + (columns - 1) * gap_ + kRight;
    title_ = Wrapped(chart.title, width_ - left_ - kRight, 15);  // bold text is wider
    legend_ = LayOutLegend();
    top_ = kTop + 18 * static_cast<double>(std::max<size_t>(1, title_.size()) - 1) +
           kLegendRow * (legend_.empty() ? 0 : legend_.back().row);
    caption_ = Wrapped(chart.caption, width_ - left_ - kRight, 11);
    height_ = top_ + static_cast<double>(rows_) * (kHeight + kBottom) + static_cast<double>(rows_ - 1) * kPanelTitle +
              kCaptionLine * static_cast<double>(caption_.size()) + (caption_.empty() ? 0 : 8);
  }

  std::string Svg() {
    std::string out = svg::Begin(width_, height_, chart_.title);
    for (size_t i = 0; i < title_.size(); ++i) {
      out +=
          Text(left_, 20 + 18 * static_cast<double>(i), "start", title_[i], " font-size=\"14\" font-weight=\"bold\"");
    }
    DrawLegend(out);
    for (size_t i = 0; i < chart_.panels.size(); ++i) DrawPanel(i, out);
    double y = height_ - kCaptionLine * static_cast<double>(caption_.size()) + 6;
    for (const std::string& line : caption_) {
      out += Text(left_, y, "start", line, " font-size=\"11\" fill=\"#444444\"");
      y += kCaptionLine;
    }
    return out + svg::kEnd;
  }

 private:
  struct LegendEntry {
    double x, row;
  };

  std::vector<LegendEntry> LayOutLegend() const {
    std::vector<LegendEntry> entries;
    double x = left_, row = 0;
    for (const NamedStyle& each : styles_) {
      const double wide = 50 + TextWidth(each.name, 12.5);
      if (x > left_ && x + wide > width_ - kRight + 16) {
        x = left_;
        ++row;
      }
      entries.push_back({x, row});
      x += wide;
    }
    return entries;
  }

  void DrawLegend(std::string& out) const {
    const double first = 36 + 18 * static_cast<double>(std::max<size_t>(1, title_.size()) - 1);
    for (size_t i = 0; i < styles_.size(); ++i) {
      const double x = legend_[i].x, y = first + kLegendRow * legend_[i].row;
      const SeriesStyle style = StyleNumber(styles_[i].style);
      if (styles_[i].joined) out += Line(x, y, x + 28, y, StrokeStyle(style));
      out += Marker(x + 14, y, style, "");
      out += Text(x + 34, y + 4, "start", styles_[i].name);
    }
  }

  struct Place {
    double left, top;
    const Axis &x, &y;

    double X(double value) const { return left + PlaceOn(x, value) * kWidth; }
    double Y(double value) const { return top + (1 - PlaceOn(y, value)) * kHeight; }
  };

  Place PlaceOf(size_t panel) const {
    const size_t whole_rows = panel / columns_;
    const auto column = static_cast<double>(panel % columns_), row = static_cast<double>(whole_rows);
    return {left_ + column * (kWidth + gap_), top_ + row * (kHeight + kBottom + kPanelTitle), axes_[panel].x,
            axes_[panel].y};
  }

  void DrawPanel(size_t number, std::string& out) const {
    const Panel& panel = chart_.panels[number];
    const Place place = PlaceOf(number);
    const bool first = number % columns_ == 0 || panel.y.has_value();
    const double bottom = place.top + kHeight, middle = place.top + kHeight / 2;
    if (first) {
      out += Text(place.left - label_offset_, middle, "middle", place.y.label,
                  svg::Upwards(place.left - label_offset_, middle));
    }
    out += Text(place.left + kWidth / 2, place.top - 10, "middle", panel.title);
    for (const Tick& tick : TicksOf(place.y)) {
      const double y = place.Y(tick.at);
      out += Line(place.left, y, place.left + kWidth, y, "stroke=\"#DDDDDD\"");
      if (first) out += Text(place.left - 6, y + 4, "end", tick.label);
    }
    if (place.x.mark) DrawMark(*place.x.mark, place, out);
    double free_from = -1e9;
    for (const Tick& tick : TicksOf(place.x)) {
      const double x = place.X(tick.at), half = TextWidth(tick.label, 12) / 2;
      out += Line(x, bottom, x, bottom + 4, "stroke=\"#888888\"");
      if (x - half < free_from) continue;  // the label would run into the one before
      out += Text(x, bottom + 18, "middle", tick.label);
      free_from = x + half + 4;
    }
    out += Line(place.left, bottom, place.left + kWidth, bottom, "stroke=\"#888888\"");
    out += Text(place.left + kWidth / 2, bottom + 38, "middle", place.x.label);
    std::map<double, int> written;  // at the top of the plot, by x
    for (const Series& series : panel.series) DrawBand(series, place, out);
    for (const Series& series : panel.series) DrawSeries(series, place, written, out);
  }

  static void DrawMark(const Tick& mark, const Place& place, std::string& out) {
    const double x = place.X(mark.at);
    const bool left = x > place.left + kWidth / 2;
    out += Line(x, place.top, x, place.top + kHeight, "stroke=\"#888888\" stroke-dasharray=\"3 3\"");
    out += Text(x + (left ? -4 : 4), place.top + kHeight / 2, left ? "end" : "start", mark.label,
                " font-size=\"10\" fill=\"#666666\"");
  }

  SeriesStyle StyleOf(const Series& series) const {
    for (const NamedStyle& each : styles_) {
      if (each.name == series.name) return StyleNumber(each.style);
    }
    return StyleNumber(0);
  }

  void DrawBand(const Series& series, const Place& place, std::string& out) const {
    if (series.band.empty()) return;
    if (series.band.size() != series.points.size()) throw std::invalid_argument("chart: a band needs as many points");
    std::string there, back;  // along the upper edge, and back along the lower one
    const auto finish = [&] {
      if (!there.empty()) {
        out += "<path d=\"" + there + back + " Z\" fill=\"" + StyleOf(series).color + "\" fill-opacity=\"0.15\"/>\n";
      }
      there.clear();
      back.clear();
    };
    for (size_t i = 0; i < series.points.size(); ++i) {
      const auto [low, high] = series.band[i];
      if (!std::isfinite(low) || !std::isfinite(high)) {  // a band across it would claim to know
        finish();
        continue;
      }
      const std::string x = Pixels(place.X(series.points[i].first));
      there += (there.empty() ? "M" : " L") + x + " " + Pixels(place.Y(high));
      back.insert(0, " L" + x + " " + Pixels(place.Y(low)));
    }
    finish();
  }

  void DrawSeries(const Series& series, const Place& place, std::map<double, int>& written, std::string& out) const {
    const SeriesStyle style = StyleOf(series);
    // A long line has few markers, so that its dashes can be seen.
    constexpr size_t kAll = 24, kSome = 8;
    const size_t every = !series.joined || series.points.size() <= kAll ? 1 : series.points.size() / kSome;
    std::string path, markers;
    bool pen = false;
    for (size_t i = 0; i < series.points.size(); ++i) {
      const auto [x, y] = series.points[i];
      const bool finite = std::isfinite(y);
      if (finite) {
        path += (pen ? " L" : path.empty() ? "M" : " M") + Pixels(place.X(x)) + " " + Pixels(place.Y(y));
        if (i % every == 0 || i + 1 == series.points.size()) {
          markers +=
              Marker(place.X(x), place.Y(y), style, series.name + ": " + ShortNumber(y) + " at " + ShortNumber(x));
        }
      } else if (pen || i == 0) {  // once for all that follow each other
        const double at = place.top + 11 + 11 * written[x]++;
        markers += Text(place.X(x), at, "middle", NotFinite(y),
                        " font-size=\"10\" font-weight=\"bold\" fill=\"" + std::string(style.color) + "\"");
      }
      pen = finite;
    }
    if (!path.empty() && series.joined) out += "<path d=\"" + path + "\" " + StrokeStyle(style) + "/>\n";
    out += markers;
  }

  const Chart& chart_;
  std::vector<PanelAxes> axes_;
  std::vector<NamedStyle> styles_;
  size_t columns_ = 1, rows_ = 1;
  bool own_y_ = false;
  double left_ = kLeft, label_offset_ = kLabelOffset, gap_ = kGap, width_ = 0, height_ = 0, top_ = 0;
  std::vector<std::string> title_, caption_;
  std::vector<LegendEntry> legend_;
};

struct Values {
  std::vector<double> x, y;

  void Add(const Panel& panel) {
    for (const Series& series : panel.series) {
      for (const auto& [at, value] : series.points) {
        x.push_back(at);
        y.push_back(value);
      }
      for (const auto& [low, high] : series.band) {
        y.push_back(low);
        y.push_back(high);
      }
    }
  }
};

}  // namespace

std::vector<PanelAxes> AxesOf(const Chart& chart) {
  constexpr double kFree = 0.05;  // above and below what is drawn
  Values shared_x, shared_y;
  for (const Panel& panel : chart.panels) {
    if (!panel.x) shared_x.Add(panel);
    if (!panel.y) shared_y.Add(panel);
  }
  const Axis x = FitAxis(chart.x, shared_x.x), y = FitAxis(chart.y, shared_y.y, kFree);
  std::vector<PanelAxes> axes;
  for (const Panel& panel : chart.panels) {
    Values own;
    own.Add(panel);
    axes.push_back({panel.x ? FitAxis(*panel.x, own.x) : x, panel.y ? FitAxis(*panel.y, own.y, kFree) : y});
  }
  return axes;
}

std::vector<NamedStyle> StylesOf(const Chart& chart) {
  std::vector<NamedStyle> styles;
  for (const Panel& panel : chart.panels) {
    for (const Series& series : panel.series) {
      const auto same = [&](const NamedStyle& each) { return each.name == series.name; };
      if (series.points.empty() || std::any_of(styles.begin(), styles.end(), same)) continue;
      styles.push_back({series.name, series.style.value_or(styles.size()), series.joined});
    }
  }
  return styles;
}

std::string ChartSvg(const Chart& chart) { return Drawing(chart).Svg(); }

}  // namespace tra
