#include "tra/report/svg.h"

#include <algorithm>
#include <cstdio>

#include "tra/report/xml.h"

namespace tra::svg {

std::string Pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string Begin(double width, double height, const std::string& title) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + Pixels(width) + "\" height=\"" + Pixels(height) +
         "\" viewBox=\"0 0 " + Pixels(width) + " " + Pixels(height) +
         "\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>" + EscapeXml(title) +
         "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
}

std::string Text(double x, double y, const char* anchor, const std::string& text, const std::string& more) {
  return "<text x=\"" + Pixels(x) + "\" y=\"" + Pixels(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" +
         EscapeXml(text) + "</text>\n";
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1=\"" + Pixels(x1) + "\" y1=\"" + Pixels(y1) + "\" x2=\"" + Pixels(x2) + "\" y2=\"" + Pixels(y2) +
         "\" " + style + "/>\n";
}

std::string Rect(double x, double y, double width, double height, const std::string& style) {
  return "<rect x=\"" + Pixels(x) + "\" y=\"" + Pixels(y) + "\" width=\"" + Pixels(width) + "\" height=\"" +
         Pixels(height) + "\" " + style + "/>\n";
}

std::string Upwards(double x, double y) { return " transform=\"rotate(-90 " + Pixels(x) + " " + Pixels(y) + ")\""; }

double TextWidth(std::string_view text, double font_size) {
  // Bytes that continue a character of UTF-8 take no room.
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 0.6 * font_size * static_cast<double>(letters);
}

std::vector<std::string> Wrapped(const std::string& text, double width, double font_size) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    std::string longer = line.empty() ? word : line;
    if (!line.empty()) longer.append(" ").append(word);
    if (!line.empty() && TextWidth(longer, font_size) > width) {
      lines.push_back(line);
      longer = word;
    }
    line = longer;
    at = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace tra::svg
