// Reads PNG files back, as their viewers would.
#ifndef TESTS_REPORT_PIXELS_H_
#define TESTS_REPORT_PIXELS_H_

#include <png.h>

#include <stdexcept>
#include <string>

#include "tra/report/png.h"

namespace tra {

inline Image DecodePng(const std::string& bytes) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) throw std::runtime_error(png.message);
  png.format = PNG_FORMAT_RGBA;
  Image image(png.width, png.height, {});
  if (png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) == 0) throw std::runtime_error(png.message);
  return image;
}

}  // namespace tra

#endif  // TESTS_REPORT_PIXELS_H_
