// Turns numbers into colours that differ for any kind of colour vision, and keeps others for what is no number.
#ifndef TRA_REPORT_COLORS_H_
#define TRA_REPORT_COLORS_H_

#include <string>

#include "tra/report/png.h"

namespace tra {

// Returns light blue for 0 to dark blue for 1. What is beyond an end has the colour of that end.
Rgba SequentialColor(double share);

// Returns dark red for 0, light grey for 0.5, dark blue for 1.
Rgba DivergingColor(double share);

// The scales above have none of these colours.
constexpr Rgba kFutureColor = {255, 255, 255};
constexpr Rgba kDroppedColor = {246, 205, 150};                                    // a muted orange
constexpr Rgba kSkippedColor = {176, 172, 168}, kSkippedStripe = {112, 108, 104};  // grey with stripes
constexpr Rgba kNanColor = {0, 0, 0};

// Returns "#F6CD96".
std::string HexColor(Rgba color);

}  // namespace tra

#endif  // TRA_REPORT_COLORS_H_
