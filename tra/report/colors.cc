#include "tra/report/colors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace tra {
namespace {

// Both grow darker evenly, so that they can also be read without colour. Their lightest colours are no white.
constexpr Rgba kBlues[] = {{210, 227, 244}, {158, 199, 229}, {83, 156, 204}, {28, 102, 171}, {8, 48, 107}};
constexpr Rgba kRedToBlue[] = {{127, 10, 36}, {214, 96, 110}, {232, 232, 232}, {83, 156, 204}, {8, 48, 107}};

uint8_t Between(uint8_t from, uint8_t to, double share) {
  return static_cast<uint8_t>(std::lround(from + share * (to - from)));
}

template <size_t kStops>
Rgba Interpolated(const Rgba (&stops)[kStops], double share) {
  const double place = std::clamp(share, 0.0, 1.0) * (kStops - 1);
  const auto low = std::min(static_cast<size_t>(place), kStops - 2);
  const Rgba &from = stops[low], &to = stops[low + 1];
  const double rest = place - static_cast<double>(low);
  return {Between(from.red, to.red, rest), Between(from.green, to.green, rest), Between(from.blue, to.blue, rest), 255};
}

}  // namespace

Rgba SequentialColor(double share) { return Interpolated(kBlues, share); }

Rgba DivergingColor(double share) { return Interpolated(kRedToBlue, share); }

std::string HexColor(Rgba color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02X%02X%02X", color.red, color.green, color.blue);
  return text;
}

}  // namespace tra
