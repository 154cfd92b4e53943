#include "tra/report/png.h"

#include <openssl/evp.h>
#include <png.h>

#include <stdexcept>

namespace tra {

std::string EncodePng(const Image& image) {
  if (image.width == 0 || image.height == 0 || image.pixels.size() != image.width * image.height) {
    throw std::invalid_argument("png: there are no pixels, or not as many as width times height");
  }
  static_assert(sizeof(Rgba) == 4, "libpng reads the pixels as bytes");
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGBA;
  const auto fail = [&png] {
    const std::string message = png.message;
    png_image_free(&png);
    throw std::runtime_error("png: " + message);
  };
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);  // enough for any pixels; the call says how much it was
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) fail();
  bytes.resize(size);
  return bytes;
}

std::string PngDataUri(const Image& image) {
  const std::string png = EncodePng(image);
  std::vector<unsigned char> text((png.size() + 2) / 3 * 4 + 1);  // and a NUL
  EVP_EncodeBlock(text.data(), reinterpret_cast<const unsigned char*>(png.data()), static_cast<int>(png.size()));
  return "data:image/png;base64," + std::string(text.begin(), text.end() - 1);
}

}  // namespace tra
