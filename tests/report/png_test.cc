#include "tra/report/png.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/report/pixels.h"

namespace tra {
namespace {

TEST(Png, GivesBackEveryPixel) {
  Image image(5, 3, {10, 20, 30, 255});
  image.At(0, 0) = {255, 0, 0, 255};
  image.At(4, 0) = {0, 255, 0, 128};
  image.At(2, 2) = {0, 0, 255, 0};
  const std::string bytes = EncodePng(image);
  EXPECT_EQ(bytes.substr(0, 4), "\x89PNG");
  const Image read = DecodePng(bytes);
  EXPECT_EQ(read.width, 5U);
  EXPECT_EQ(read.height, 3U);
  EXPECT_TRUE(read.pixels == image.pixels);
}

TEST(Png, RefusesAnImageWithoutPixels) {
  EXPECT_THROW(EncodePng(Image(0, 3, {})), std::invalid_argument);
  Image image(2, 2, {});
  image.pixels.pop_back();
  EXPECT_THROW(EncodePng(image), std::invalid_argument);
}

}  // namespace
}  // namespace tra
