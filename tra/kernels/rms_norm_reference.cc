#include "tra/kernels/rms_norm_reference.h"

#include <algorithm>
#include <cmath>

namespace tra {

void RmsNormForwardReference(const RmsNormForwardArgs<double>& args) {
  const size_t width = args.shape.width;
  for (size_t row = 0; row < args.shape.rows; ++row) {
    const size_t first = row * width;
    const auto sum = [&](size_t c) {
      return args.y == nullptr ? args.x[first + c] : args.x[first + c] + args.y[first + c];
    };
    double squares = 0;
    for (size_t c = 0; c < width; ++c) squares += sum(c) * sum(c);
    const double inv_rms = 1 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(args.eps));
    for (size_t c = 0; c < width; ++c) {
      args.out[first + c] = sum(c) * inv_rms * args.gain[c];
      if (args.y != nullptr) args.sum[first + c] = sum(c);
    }
    if (args.inv_rms != nullptr) args.inv_rms[row] = inv_rms;
  }
}

// forward: out = n * gain, n = sum * inv_rms   so: d_gain = sum over rows of d_out * n, d_n = d_out * gain,
//          d_x = (d_n - n * mean(n * d_n)) * inv_rms + d_sum
void RmsNormBackwardReference(const RmsNormBackwardArgs<double>& args) {
  const size_t width = args.shape.width;
  std::fill_n(args.d_gain, width, 0.0);
  for (size_t row = 0; row < args.shape.rows; ++row) {
    const size_t first = row * width;
    const double inv_rms = args.inv_rms[row];
    double mean = 0;
    for (size_t c = 0; c < width; ++c) {
      const double n = args.sum[first + c] * inv_rms;
      args.d_gain[c] += args.d_out[first + c] * n;
      mean += n * args.d_out[first + c] * args.gain[c] / static_cast<double>(width);
    }
    for (size_t c = 0; c < width; ++c) {
      const double n = args.sum[first + c] * inv_rms;
      args.d_x[first + c] = (args.d_out[first + c] * args.gain[c] - n * mean) * inv_rms +
                            (args.d_sum == nullptr ? 0.0 : args.d_sum[first + c]);
    }
  }
}

}  // namespace tra
