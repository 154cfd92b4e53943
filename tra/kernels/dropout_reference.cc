#include "tra/kernels/dropout.h"
#include "tra/kernels/philox.h"

namespace tra {

void ApplyDropoutReference(const double* x, size_t n, const DropoutOptions& options, double* out) {
  CheckDropout(options, n);
  const double keep_scale = 1 / (1 - static_cast<double>(options.p));
  for (size_t i = 0; i < n; ++i) {
    const size_t size = n / options.count;
    const uint64_t seed = SequenceSeed(options.seed, options.sequences, i / size);
    out[i] = x[i] * (ElementDropped(seed, options.p, i % size) ? 0 : keep_scale);
  }
}

}  // namespace tra
