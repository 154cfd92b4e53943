// Writes the elements that drawings in SVG are made of.
#ifndef TRA_REPORT_SVG_H_
#define TRA_REPORT_SVG_H_

#include <string>
#include <string_view>
#include <vector>

namespace tra::svg {

// Returns a length or a place with one decimal.
std::string Pixels(double value);

// Returns what stands before the elements: the size, the title for those who cannot see it, the font and a white
// background. The drawing ends with kEnd.
std::string Begin(double width, double height, const std::string& title);
constexpr char kEnd[] = "</svg>\n";

// `anchor` says which part of the text is at x: start, middle or end. `more` has further attributes and begins with a
// blank.
std::string Text(double x, double y, const char* anchor, const std::string& text, const std::string& more = "");
std::string Line(double x1, double y1, double x2, double y2, const std::string& style);
std::string Rect(double x, double y, double width, double height, const std::string& style);

// Returns the attribute that turns a text at this place to be read from below.
std::string Upwards(double x, double y);

// Estimates the width of a text in pixels.
double TextWidth(std::string_view text, double font_size);
// Breaks a text at blanks into lines that are at most this wide, unless a word is wider.
std::vector<std::string> Wrapped(const std::string& text, double width, double font_size);

}  // namespace tra::svg

#endif  // TRA_REPORT_SVG_H_
