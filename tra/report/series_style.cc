#include "tra/report/series_style.h"

#include <iterator>

namespace tra {
namespace {

struct Style {
  const char* attention;
  SeriesStyle style;
};

// Colours after Okabe and Ito, some of them darker, so that thin lines can be seen on white.
constexpr Style kStyles[] = {
    {"tra", {"#0072B2", "#4DA8E8", "none", "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", true}},
    {"rope", {"#D55E00", "#FF8A4C", "6 3", "M-2.7 -2.7h5.4v5.4h-5.4Z", true}},
    {"fot", {"#009E73", "#2EC79A", "2 2", "M0 -3.6L3.6 2.8H-3.6Z", true}},
    {"nope", {"#CC79A7", "#E79CC6", "8 3 2 3", "M0 -3.9L3.9 0L0 3.9L-3.9 0Z", true}},
    {"ape", {"#C98600", "#F0B43C", "10 4", "M0 3.6L3.6 -2.8H-3.6Z", true}},
    {"rel", {"#3D9BD3", "#8CD0F5", "4 2", "M-3.6 0H3.6M0 -3.6V3.6", false}},
    {"label", {"#000000", "#FFFFFF", "1 3", "M-2.8 -2.8L2.8 2.8M-2.8 2.8L2.8 -2.8", false}},
    {"diff", {"#888888", "#A8A8A8", "none", "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", false}},
    {"cope", {"#7A5195", "#B695D6", "5 5", "M-2.7 -2.7h5.4v5.4h-5.4Z", false}},
};
static_assert(std::size(kStyles) == kSeriesStyles);

}  // namespace

SeriesStyle StyleNumber(size_t number) {
  const SeriesStyle &color = kStyles[number % kSeriesStyles].style,
                    &shape = kStyles[(number + number / kSeriesStyles) % kSeriesStyles].style;
  return {color.color, color.dark_color, shape.dashes, shape.marker, shape.filled};
}

size_t StyleOfAttention(const std::string& attention) {
  for (size_t number = 0; number < kSeriesStyles; ++number) {
    if (attention == kStyles[number].attention) return number;
  }
  return kSeriesStyles - 1;
}

}  // namespace tra
