// Says how the lines of charts look, so that nine of them can be told apart with any kind of colour vision, in print
// without colour, and in dark pages.
#ifndef TRA_REPORT_SERIES_STYLE_H_
#define TRA_REPORT_SERIES_STYLE_H_

#include <cstddef>
#include <string>

namespace tra {

struct SeriesStyle {
  const char* color;       // on white
  const char* dark_color;  // on black
  const char* dashes;      // lengths of strokes and gaps, for SVG; "none": one line
  const char* marker;      // the path of a marker around 0, 0 for SVG
  bool filled;             // whether the marker is
};

constexpr size_t kSeriesStyles = 9;

// Returns the style of this number. After the last colour comes the first again, with the dashes and the marker of
// another.
SeriesStyle StyleNumber(size_t number);

// Returns the number of the style that an attention has in all charts. Attentions that the paper does not have share
// the last.
size_t StyleOfAttention(const std::string& attention);

}  // namespace tra

#endif  // TRA_REPORT_SERIES_STYLE_H_
