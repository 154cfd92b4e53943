// Draws line charts as SVG: panels in rows that share their axes, or have their own.
#ifndef TRA_REPORT_CHART_H_
#define TRA_REPORT_CHART_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tra/report/axis.h"

namespace tra {

struct Series {
  std::string name;                               // the same name looks the same in all panels
  std::vector<std::pair<double, double>> points;  // (x, y) by increasing x; a y that is not finite breaks the line, and
                                                  // is written at the top of the plot
  std::vector<std::pair<double, double>> band = {};  // (low, high) at each point, shaded; empty: none
  std::optional<size_t> style = std::nullopt;        // see StyleNumber; without: in the order of names
  bool joined = true;                                // by a line; else the points are those of a scatter plot, in any
                                                     // order
};

struct Panel {
  std::string title;
  std::vector<Series> series;
  std::optional<Axis> x = std::nullopt, y = std::nullopt;  // instead of those that the panels share
};

struct Chart {
  std::string title;
  Axis x, y;
  std::vector<Panel> panels;
  std::string caption;  // stands below; may be empty
  size_t columns = 3;   // panels in a row
};

// Returns the axes of a panel, fitted to its points if they are its own, else to those of all panels that share them.
struct PanelAxes {
  Axis x, y;
};
std::vector<PanelAxes> AxesOf(const Chart& chart);

// Returns a chart as SVG. Throws std::invalid_argument if there is nothing to draw, an axis ends before it begins, or a
// band has not as many points as its line.
std::string ChartSvg(const Chart& chart);

// Returns the names of all series, in the order in which they first occur, with the number of their style, and whether
// they are lines.
struct NamedStyle {
  std::string name;
  size_t style = 0;
  bool joined = true;
};
std::vector<NamedStyle> StylesOf(const Chart& chart);

}  // namespace tra

#endif  // TRA_REPORT_CHART_H_
