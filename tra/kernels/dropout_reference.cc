#include "tra/kernels/dropout_reference.h"

#include "tra/kernels/dropout_draws.h"

namespace tra {

double DropoutFactorReference(const DropoutOptions& options, size_t n, size_t i) {
  const size_t size = n / options.sequences;
  const uint64_t seed = SequenceSeed(options.seed, options.sequence_ids, i / size);
  return ElementDropped(seed, options.p, i % size) ? 0 : 1 / (1 - static_cast<double>(options.p));
}

void ApplyDropoutReference(const double* x, size_t n, const DropoutOptions& options, double* out) {
  CheckDropout(options, n);
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * DropoutFactorReference(options, n, i);
}

}  // namespace tra
