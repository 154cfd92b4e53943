#include "tra/kernels/swiglu_reference.h"

#include <cmath>

#include "tra/kernels/dropout_reference.h"

namespace tra {
namespace {

double Sigmoid(double g) { return 1 / (1 + std::exp(-g)); }

}  // namespace

void SwiGluForwardReference(const SwiGluForwardArgs<double>& args) {
  CheckDropout(args.dropout, args.shape.rows * args.shape.width);
  const size_t width = args.shape.width;
  for (size_t row = 0; row < args.shape.rows; ++row) {
    const double* up = args.x + 2 * row * width;
    const double* gate = up + width;
    for (size_t c = 0; c < width; ++c) {
      const size_t element = row * width + c;
      args.out[element] =
          up[c] * gate[c] * Sigmoid(gate[c]) * DropoutFactorReference(args.dropout, args.shape.rows * width, element);
    }
  }
}

// forward: out = up * g * s, s = sigmoid(g), ds/dg = s (1 - s)
// so: d_up = d_out * g * s, d_gate = d_out * up * (s + g s (1 - s)) = d_out * up * s * (1 + g (1 - s))
void SwiGluBackwardReference(const SwiGluBackwardArgs<double>& args) {
  CheckDropout(args.dropout, args.shape.rows * args.shape.width);
  const size_t width = args.shape.width;
  for (size_t row = 0; row < args.shape.rows; ++row) {
    const double* up = args.x + 2 * row * width;
    const double* gate = up + width;
    double* d_up = args.d_x + 2 * row * width;
    double* d_gate = d_up + width;
    for (size_t c = 0; c < width; ++c) {
      const size_t element = row * width + c;
      const double d = args.d_out[element] * DropoutFactorReference(args.dropout, args.shape.rows * width, element);
      const double g = gate[c], s = Sigmoid(g);
      d_up[c] = d * g * s;
      d_gate[c] = d * up[c] * s * (1 + g * (1 - s));
    }
  }
}

}  // namespace tra
