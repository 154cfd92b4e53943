#include "tra/report/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace tra {
namespace {

double Logarithm(Scale scale, double value) { return scale == Scale::kLog2 ? std::log2(value) : std::log10(value); }
double Power(Scale scale, double exponent) {
  return scale == Scale::kLog2 ? std::exp2(exponent) : std::pow(10, exponent);
}

bool HasPlace(const Axis& axis, double value) {
  return std::isfinite(value) && (axis.scale == Scale::kLinear || value > 0);
}

}  // namespace

Axis FitAxis(Axis axis, const std::vector<double>& values, double free) {
  if (!(axis.low <= axis.high)) throw std::invalid_argument("chart: an axis must begin below where it ends");
  if (axis.low == axis.high) {
    bool any = false;
    for (const double value : values) {
      if (!HasPlace(axis, value)) continue;
      axis.low = any ? std::min(axis.low, value) : value;
      axis.high = any ? std::max(axis.high, value) : value;
      any = true;
    }
    if (!any) axis.low = axis.high = 1;
    if (axis.scale == Scale::kLinear) {
      if (axis.low == axis.high) axis.high = axis.low + 1;
      const double more = free * (axis.high - axis.low);
      axis.low -= more;
      axis.high += more;
    } else {
      if (axis.low == axis.high) axis.high = 2 * axis.low;
      const double more = std::pow(axis.high / axis.low, free);
      axis.low /= more;
      axis.high *= more;
    }
  }
  if (axis.scale != Scale::kLinear && axis.low <= 0) {
    throw std::invalid_argument("chart: a logarithmic axis must begin above 0");
  }
  return axis;
}

double PlaceOn(const Axis& axis, double value) {
  if (axis.scale == Scale::kLinear) return (std::clamp(value, axis.low, axis.high) - axis.low) / (axis.high - axis.low);
  const double low = Logarithm(axis.scale, axis.low), high = Logarithm(axis.scale, axis.high);
  return value <= axis.low ? 0 : (std::min(Logarithm(axis.scale, value), high) - low) / (high - low);
}

std::vector<Tick> TicksOf(const Axis& axis) {
  if (!axis.ticks.empty()) return axis.ticks;
  std::vector<Tick> ticks;
  for (const double at :
       axis.scale == Scale::kLinear ? Ticks(axis.low, axis.high) : LogTicks(axis.low, axis.high, axis.scale)) {
    ticks.push_back({at, ShortNumber(at)});
  }
  return ticks;
}

std::vector<double> Ticks(double low, double high) {
  const double rough = (high - low) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  std::vector<double> ticks;
  // Multiplies instead of adding up, since rounding would lose the last tick. + 0.0 turns -0 into 0.
  for (double n = std::ceil(low / step - 1e-9) + 0.0; n * step <= high + step * 1e-9; ++n) ticks.push_back(n * step);
  return ticks;
}

std::vector<double> LogTicks(double low, double high, Scale scale) {
  constexpr double kMost = 8;
  const double first = Logarithm(scale, low), last = Logarithm(scale, high);
  const double every = std::max(1.0, std::ceil((last - first) / kMost));
  std::vector<double> ticks;
  const double begin = std::floor(first / every) * every;
  const auto steps = static_cast<int>(std::floor((last + 1e-9 - begin) / every));
  for (int i = 0; i <= steps; ++i) {
    const double n = begin + i * every;
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit > 1 && (scale != Scale::kLog10 || last - first > 2.5)) break;
      const double at = digit * Power(scale, n);
      if (at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9)) ticks.push_back(at);
    }
  }
  // Less than a step apart, such as 30 to 32: even steps are as good as on a linear axis.
  return ticks.size() < 2 ? Ticks(low, high) : ticks;
}

std::string ShortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) >= 1e6 ? "%.3g" : "%.6g", value);
  std::string number = text;
  // 1e+06 is 1e6, 1e-05 is 1e-5.
  const size_t e = number.find('e');
  if (e == std::string::npos) return number;
  std::string exponent = number.substr(e + 1);
  const bool negative = exponent[0] == '-';
  exponent.erase(0, exponent.find_first_not_of("+-0"));
  return number.substr(0, e + 1) + (negative ? "-" : "") + exponent;
}

}  // namespace tra
