#include "tra/report/picture.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace tra {
namespace {

constexpr char kSaveSvg[] = "; save it as .svg instead";

struct Free {
  void operator()(void* object) const { g_object_unref(object); }
  void operator()(GError* error) const { g_error_free(error); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
  void operator()(FcFontSet* fonts) const { FcFontSetDestroy(fonts); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error("the picture cannot be drawn as PNG: " + what + kSaveSvg);
}

// Without any font, text would be missing or empty boxes.
void CheckFont() {
  const Owned<FcPattern> any(FcPatternCreate());
  const Owned<FcFontSet> fonts(FcFontList(nullptr, any.get(), nullptr));
  if (fonts == nullptr || fonts->nfont == 0) {
    Fail("this machine has no font for its text; install one, such as Debian's fonts-dejavu-core (scripts/setup.sh)");
  }
}

Owned<RsvgHandle> Parse(const std::string& svg) {
  const Owned<GInputStream> bytes(
      g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr));
  GError* error = nullptr;
  // Unlimited, because a large matrix is one long attribute.
  Owned<RsvgHandle> handle(
      rsvg_handle_new_from_stream_sync(bytes.get(), nullptr, RSVG_HANDLE_FLAG_UNLIMITED, nullptr, &error));
  if (handle == nullptr) Fail(Owned<GError>(error)->message);
  return handle;
}

cairo_status_t Append(void* bytes, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

void Check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) Fail(cairo_status_to_string(status));
}

}  // namespace

void CheckPictureName(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".svg" || ending == ".png") return;
  throw std::invalid_argument(path + ": pictures are saved as .svg or .png; end the name in one of these");
}

std::string PictureBytes(const std::string& svg, const std::string& path) {
  CheckPictureName(path);
  return std::filesystem::path(path).extension() == ".svg" ? svg : SvgToPng(svg);
}

std::string SvgToPng(const std::string& svg, double scale) {
  CheckFont();
  const Owned<RsvgHandle> handle = Parse(svg);
  double width = 0, height = 0;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height)) Fail("its size is not in pixels");
  const double columns = std::ceil(width * scale), rows = std::ceil(height * scale);
  constexpr double kMost = 32767;  // cairo counts pixels in 16 bits
  if (!(columns >= 1 && rows >= 1 && columns <= kMost && rows <= kMost)) {
    Fail("it would be " + std::to_string(std::lround(columns)) + " by " + std::to_string(std::lround(rows)) +
         " pixels, and may have " + std::to_string(std::lround(kMost)) + " each way");
  }
  const Owned<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(columns), static_cast<int>(rows)));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  const RsvgRectangle whole = {0, 0, width * scale, height * scale};
  GError* error = nullptr;
  if (!rsvg_handle_render_document(handle.get(), context.get(), &whole, &error)) Fail(Owned<GError>(error)->message);
  std::string png;
  Check(cairo_status(context.get()));
  Check(cairo_surface_write_to_png_stream(surface.get(), &Append, &png));
  return png;
}

}  // namespace tra
