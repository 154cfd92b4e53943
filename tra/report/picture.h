// Saves what the project draws, which is SVG, as the kind of picture that a file name asks for.
#ifndef TRA_REPORT_PICTURE_H_
#define TRA_REPORT_PICTURE_H_

#include <string>

namespace tra {

// Pixels of a PNG for each unit of the SVG, so that text is sharp on screens with small pixels too. An image within the
// SVG is sharp if it has as many: librsvg smooths others, whatever the SVG says.
constexpr int kPngScale = 2;

// Throws std::invalid_argument unless the name ends in .svg or .png: to be called before the work of drawing.
void CheckPictureName(const std::string& path);

// Returns the bytes of the file: for a name that ends in .svg the SVG itself, for .png what SvgToPng makes of it.
std::string PictureBytes(const std::string& svg, const std::string& path);

// Renders an SVG on white. Throws std::runtime_error if it is not SVG, if it is too large for pixels, or if the machine
// has no font, with what to do.
std::string SvgToPng(const std::string& svg, double scale = kPngScale);

}  // namespace tra

#endif  // TRA_REPORT_PICTURE_H_
