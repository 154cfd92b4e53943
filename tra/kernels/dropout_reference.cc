#include "tra/kernels/dropout.h"
#include "tra/kernels/philox.h"

namespace tra {

void ApplyDropoutReference(const double* x, size_t n, const DropoutOptions& options, double* out) {
  CheckDropout(options);
  const double keep_scale = 1 / (1 - static_cast<double>(options.p));
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * (ElementDropped(options.seed, options.p, i) ? 0 : keep_scale);
}

}  // namespace tra
