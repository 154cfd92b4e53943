#include "tra/kernels/rope_reference.h"

#include <cmath>

namespace tra {

void RotateReference(const RopeArgs<double>& args) {
  const RopeShape& shape = args.shape;
  const size_t half = shape.width / 2;
  for (size_t b = 0; b < shape.batch; ++b) {
    for (size_t h = 0; h < shape.heads; ++h) {
      for (size_t i = 0; i < shape.positions; ++i) {
        const double* x = args.x(b, h, i);
        double* out = args.out(b, h, i);
        const double position = args.row_positions != nullptr
                                    ? static_cast<double>(args.row_positions[i])
                                    : static_cast<double>(args.first_position) + static_cast<double>(i);
        for (size_t c = 0; c < half; ++c) {
          const double exponent = -2.0 * static_cast<double>(c) / static_cast<double>(shape.width);
          const double angle = (args.backwards ? -1 : 1) * position * std::pow(args.theta, exponent);
          out[c] = x[c] * std::cos(angle) - x[half + c] * std::sin(angle);
          out[half + c] = x[half + c] * std::cos(angle) + x[c] * std::sin(angle);
        }
      }
    }
  }
}

}  // namespace tra
