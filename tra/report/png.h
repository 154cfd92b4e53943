// Writes pixels as a PNG file.
#ifndef TRA_REPORT_PNG_H_
#define TRA_REPORT_PNG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tra {

struct Rgba {
  uint8_t red = 0, green = 0, blue = 0, alpha = 255;
};

inline bool operator==(const Rgba& a, const Rgba& b) {
  return a.red == b.red && a.green == b.green && a.blue == b.blue && a.alpha == b.alpha;
}
inline bool operator!=(const Rgba& a, const Rgba& b) { return !(a == b); }

struct Image {
  size_t width = 0, height = 0;
  std::vector<Rgba> pixels;  // [height,width], from the top left

  Image(size_t columns, size_t rows, Rgba color) : width(columns), height(rows), pixels(columns * rows, color) {}
  Rgba& At(size_t x, size_t y) { return pixels[y * width + x]; }
};

// Returns the bytes of a PNG file. Throws std::invalid_argument for an image without pixels, and std::runtime_error if
// libpng refuses it, such as for its size.
std::string EncodePng(const Image& image);

// Returns the PNG as a URI by which SVG and HTML hold images within themselves: "data:image/png;base64,...".
std::string PngDataUri(const Image& image);

}  // namespace tra

#endif  // TRA_REPORT_PNG_H_
