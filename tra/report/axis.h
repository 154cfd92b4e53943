// Places numbers on the axes of charts, and chooses round numbers to label.
#ifndef TRA_REPORT_AXIS_H_
#define TRA_REPORT_AXIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tra/base/names.h"

namespace tra {

enum class Scale : uint8_t { kLinear, kLog2, kLog10 };
constexpr NamedValue<Scale> kScales[] = {{"linear", Scale::kLinear}, {"log2", Scale::kLog2}, {"log10", Scale::kLog10}};

struct Tick {
  double at = 0;
  std::string label;
};

struct Axis {
  std::string label;
  double low = 0, high = 0;  // equal: fitted to what is drawn
  Scale scale = Scale::kLinear;
  std::vector<Tick> ticks = {};             // empty: round numbers
  std::optional<Tick> mark = std::nullopt;  // a value to draw a line at, such as the end of what was trained on
};

// Returns the axis with its range fitted to the values, if it has none yet, with this share of the range free at both
// ends. Values that have no place on it (NaN, infinities, on logarithms what is not positive) do not count. Throws
// std::invalid_argument if low is above high, or a logarithmic axis begins at 0 or below.
Axis FitAxis(Axis axis, const std::vector<double>& values, double free = 0);

// Returns where on the axis a value is: 0 at the low end to 1 at the high end. What is beyond an end is at that end.
double PlaceOn(const Axis& axis, double value);

// Returns the axis's own ticks, or round numbers on its range.
std::vector<Tick> TicksOf(const Axis& axis);

// Returns two to seven round numbers within low .. high, equally far apart.
std::vector<double> Ticks(double low, double high);

// Returns round numbers within low .. high, equally far apart by logarithm: powers of two; or powers of ten, with 2 and
// 5 between them where there is room.
std::vector<double> LogTicks(double low, double high, Scale scale);

// Returns a number as charts show it: "0.5", "4096", "1e6".
std::string ShortNumber(double value);

}  // namespace tra

#endif  // TRA_REPORT_AXIS_H_
