#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "tra/report/page_parts.h"
#include "tra/report/series_style.h"
#include "tra/report/xml.h"

namespace tra {
namespace {

using nlohmann::ordered_json;

// Returns a number with as many digits as a chart can show, what is not finite as the text that stands in its place.
ordered_json Shown(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return std::strtod(text, nullptr);
}

// Returns the end of a band, or null where there is none.
ordered_json Edge(double value) { return std::isfinite(value) ? Shown(value) : ordered_json(nullptr); }

ordered_json AxisJson(const Axis& axis) {
  ordered_json json = {
      {"label", axis.label}, {"scale", NameOf(kScales, axis.scale)}, {"low", axis.low}, {"high", axis.high}};
  // On a linear axis without ticks of its own, the page chooses them again when it is zoomed.
  if (!axis.ticks.empty() || axis.scale != Scale::kLinear) {
    json["ticks"] = ordered_json::array();
    for (const Tick& tick : TicksOf(axis)) json["ticks"].push_back({tick.at, tick.label});
  }
  if (axis.mark) json["mark"] = {axis.mark->at, axis.mark->label};
  return json;
}

std::vector<double> PlacesOf(const Panel& panel) {
  std::set<double> places;
  for (const Series& series : panel.series) {
    for (const auto& [x, y] : series.points) places.insert(x);
  }
  return {places.begin(), places.end()};
}

ordered_json SeriesJson(const Series& series, size_t style, const std::vector<double>& places) {
  ordered_json y = ordered_json::array(), low = y, high = y;
  size_t next = 0;
  for (const double place : places) {
    const bool there = next < series.points.size() && series.points[next].first == place;
    y.push_back(there ? Shown(series.points[next].second) : ordered_json(nullptr));
    if (!series.band.empty()) {
      low.push_back(there ? Edge(series.band[next].first) : ordered_json(nullptr));
      high.push_back(there ? Edge(series.band[next].second) : ordered_json(nullptr));
    }
    next += there ? 1 : 0;
  }
  ordered_json json = {{"style", style}, {"y", std::move(y)}};
  if (!series.band.empty()) {
    json["low"] = std::move(low);
    json["high"] = std::move(high);
  }
  return json;
}

std::string ShownText(double value) {
  const ordered_json shown = Shown(value);
  return shown.is_string() ? shown.get<std::string>() : ShortNumber(shown.get<double>());
}

// Returns the x values that the table of a panel shows: all, or some evenly chosen ones and the last.
std::vector<double> TablePlaces(const std::vector<double>& places) {
  constexpr size_t kMost = 12;
  if (places.size() <= kMost) return places;
  std::vector<double> some;
  for (size_t i = 1; i <= kMost; ++i) some.push_back(places[i * places.size() / kMost - 1]);
  return some;
}

std::string PlaceName(const Axis& axis, double place) {
  for (const Tick& tick : axis.ticks) {
    if (tick.at == place) return tick.label;
  }
  return ShortNumber(place);
}

std::string NumbersTable(const Panel& panel, const PanelAxes& axes) {
  const std::vector<double> all = PlacesOf(panel), places = TablePlaces(all);
  std::string html = "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"numbers\">\n<table>\n<caption>" +
                     EscapeXml((panel.title.empty() ? "" : panel.title + ": ") + axes.y.label + " by " + axes.x.label);
  if (places.size() < all.size()) html += ", at some of " + std::to_string(all.size()) + " places";
  html += "</caption>\n<thead><tr><td></td>";
  for (const double place : places) html += "<th scope=\"col\">" + EscapeXml(PlaceName(axes.x, place)) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const Series& series : panel.series) {
    html += "<tr><th scope=\"row\">" + EscapeXml(series.name) + "</th>";
    for (const double place : places) {
      const auto at = std::find_if(series.points.begin(), series.points.end(),
                                   [&](const auto& point) { return point.first == place; });
      html += "<td>";
      if (at != series.points.end()) {
        html += ShownText(at->second);
        if (!series.band.empty()) {
          const auto [low, high] = series.band[static_cast<size_t>(at - series.points.begin())];
          html += " <small>(" + ShownText(low) + " to " + ShownText(high) + ")</small>";
        }
      }
      html += "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

ordered_json ChartJson(const Chart& chart) {
  const std::vector<PanelAxes> axes = AxesOf(chart);
  const std::vector<NamedStyle> styles = StylesOf(chart);
  ordered_json json = {{"title", chart.title}, {"styles", ordered_json::array()}, {"panels", ordered_json::array()}};
  for (const NamedStyle& each : styles) {
    const SeriesStyle style = StyleNumber(each.style);
    json["styles"].push_back({{"name", each.name},
                              {"color", style.color},
                              {"dark", style.dark_color},
                              {"dashes", style.dashes},
                              {"marker", style.marker},
                              {"filled", style.filled}});
  }
  for (size_t number = 0; number < chart.panels.size(); ++number) {
    const Panel& panel = chart.panels[number];
    const std::vector<double> places = PlacesOf(panel);
    ordered_json series = ordered_json::array();
    for (const Series& each : panel.series) {
      const auto named = [&](const NamedStyle& style) { return style.name == each.name; };
      const auto style = std::find_if(styles.begin(), styles.end(), named);
      if (style != styles.end())
        series.push_back(SeriesJson(each, static_cast<size_t>(style - styles.begin()), places));
    }
    json["panels"].push_back({{"title", panel.title},
                              {"x", AxisJson(axes[number].x)},
                              {"y", AxisJson(axes[number].y)},
                              {"at", places},
                              {"series", std::move(series)}});
  }
  return json;
}

std::string ChartHtml(const Chart& chart, size_t number) {
  const std::vector<PanelAxes> axes = AxesOf(chart);
  Chart bare = chart;  // the page shows the title and the caption as text
  bare.title.clear();
  bare.caption.clear();
  // A scatter plot stays a picture: its points say what they are, and no line has a value at every x.
  const std::vector<NamedStyle> styles = StylesOf(chart);
  const bool lines = std::all_of(styles.begin(), styles.end(), [](const NamedStyle& each) { return each.joined; });
  std::string html = lines ? "<figure data-chart=\"" + std::to_string(number) + "\">" : "<figure>";
  html += "\n<h3>" + EscapeXml(chart.title) +
          "</h3>\n<div class=\"still\" role=\"img\" aria-label=\"chart: " + EscapeXml(chart.title) +
          (lines ? "; its numbers are in the table below" : "; " + EscapeXml(chart.caption)) + "\">\n" +
          ChartSvg(bare) + "</div>\n";
  if (!chart.caption.empty()) html += "<figcaption>" + EscapeXml(chart.caption) + "</figcaption>\n";
  if (!lines) return html + "</figure>\n";
  html += "<details><summary>The numbers of this chart</summary>\n";
  for (size_t i = 0; i < chart.panels.size(); ++i) html += NumbersTable(chart.panels[i], axes[i]);
  return html + "</details>\n</figure>\n";
}

}  // namespace tra
