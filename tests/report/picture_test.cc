#include "tra/report/picture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "tests/base/files.h"
#include "tests/report/pixels.h"

namespace tra {
namespace {

constexpr char kSvg[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\">"
    "<rect x=\"10\" y=\"5\" width=\"20\" height=\"10\" fill=\"#0072B2\"/></svg>";

// Returns the message that the call throws.
template <typename Call>
std::string ErrorOf(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Picture, APngHasTheShapesOfTheSvgAtItsScale) {
  Image image = DecodePng(SvgToPng(kSvg, 3));
  ASSERT_EQ(image.width, 120U);
  ASSERT_EQ(image.height, 60U);
  const Rgba white = {255, 255, 255, 255}, blue = {0x00, 0x72, 0xB2, 255};
  for (size_t y = 0; y < image.height; ++y) {
    for (size_t x = 0; x < image.width; ++x) {
      const bool inside = 30 <= x && x < 90 && 15 <= y && y < 45;
      ASSERT_TRUE(image.At(x, y) == (inside ? blue : white)) << x << " " << y;
    }
  }
}

// Matrices are images within the drawing, and a blur between cells would be colours that stand for other numbers.
TEST(Picture, AnEmbeddedImageOfItsScaleKeepsEveryPixel) {
  Image cells(20 * kPngScale, 10 * kPngScale, {255, 0, 0, 255});
  for (size_t i = 0; i < cells.pixels.size(); i += 3) cells.pixels[i] = {0, 0, 255, 255};
  const Image drawn =
      DecodePng(SvgToPng("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\">"
                         "<image width=\"20\" height=\"10\" href=\"" +
                         PngDataUri(cells) + "\"/></svg>"));
  EXPECT_TRUE(drawn.pixels == cells.pixels);
}

TEST(Picture, TheNameSaysTheKind) {
  EXPECT_EQ(PictureBytes(kSvg, "a/b.svg"), kSvg);
  EXPECT_EQ(DecodePng(PictureBytes(kSvg, "b.png")).width, 80U);
  EXPECT_EQ(ErrorOf([] { PictureBytes(kSvg, "b.jpg"); }),
            "b.jpg: pictures are saved as .svg or .png; end the name in one of these");
  EXPECT_THROW(CheckPictureName("b"), std::invalid_argument);
  EXPECT_NO_THROW(CheckPictureName("b.png"));
}

TEST(Picture, TextIsDrawn) {
  const Image image = DecodePng(
      SvgToPng("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\" font-family=\"sans-serif\">"
               "<text x=\"2\" y=\"15\">abc</text></svg>"));
  size_t dark = 0;
  for (const Rgba& pixel : image.pixels) dark += pixel.red < 100 ? 1 : 0;
  EXPECT_GT(dark, 50U);
}

TEST(Picture, WhatCannotBeDrawnSaysWhatToDo) {
  const std::string not_svg = ErrorOf([] { SvgToPng("<svg"); });
  EXPECT_NE(not_svg.find("; save it as .svg instead"), std::string::npos) << not_svg;
  const std::string large = ErrorOf([] { SvgToPng(kSvg, 1000); });
  EXPECT_NE(large.find("40000 by 20000 pixels"), std::string::npos) << large;
  EXPECT_THROW(SvgToPng(kSvg, 0), std::runtime_error);
}

// fontconfig reads its configuration once, so this runs in a process of its own.
TEST(PictureDeathTest, WithoutAFontTheErrorNamesOne) {
  const TemporaryDirectory directory;
  const std::string file = directory / "fonts.conf";
  std::ofstream(file) << "<fontconfig><cachedir>" << (directory / "cache") << "</cachedir></fontconfig>";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("FONTCONFIG_FILE", file.c_str(), 1);
        std::fputs(ErrorOf([] { SvgToPng(kSvg); }).c_str(), stderr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "fonts-dejavu-core");
}

}  // namespace
}  // namespace tra
