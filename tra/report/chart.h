// Draws line charts as SVG: panels side by side that share their axes.
#ifndef TRA_REPORT_CHART_H_
#define TRA_REPORT_CHART_H_

#include <string>
#include <utility>
#include <vector>

namespace tra {

struct Series {
  std::string name;  // the same name has the same colour in all panels
  std::vector<std::pair<double, double>>
      points;  // (x, y) by increasing x if joined; a y that is not finite breaks the line
  std::vector<std::pair<double, double>> band = {};  // (low, high) at each point, shaded; empty: none
  bool joined = true;                                // by a line; else the points are those of a scatter plot
};

struct Panel {
  std::string title;
  std::vector<Series> series;
};

struct Chart {
  std::string title, x_label, y_label;
  double y_low = 0, y_high = 1;
  std::vector<Panel> panels;
};

// Returns a chart as SVG. Throws std::invalid_argument if there is nothing to draw or y_low is not below y_high.
std::string ChartSvg(const Chart& chart);

// Returns two to seven round numbers within low .. high, equally far apart.
std::vector<double> Ticks(double low, double high);

}  // namespace tra

#endif  // TRA_REPORT_CHART_H_
