#include "tra/kernels/dropout_reference.h"

#include "tra/kernels/dropout_draws.h"

namespace tra {

double DropoutFactorReference(const DropoutOptions& options, size_t n, size_t i) {
  size_t sequence = 0, first = 0;  // of element i, and the first element of that sequence
  if (options.offsets == nullptr) {
    const size_t size = n / options.sequences;
    sequence = i / size;
    first = sequence * size;
  } else {
    const size_t size = n / static_cast<size_t>(options.offsets[options.sequences]);
    while (i >= static_cast<size_t>(options.offsets[sequence + 1]) * size) ++sequence;
    first = static_cast<size_t>(options.offsets[sequence]) * size;
  }
  const uint64_t seed = SequenceSeed(options.seed, options.sequence_ids, sequence);
  return ElementDropped(seed, options.p, i - first) ? 0 : 1 / (1 - static_cast<double>(options.p));
}

void ApplyDropoutReference(const double* x, size_t n, const DropoutOptions& options, double* out) {
  CheckDropout(options, n);
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * DropoutFactorReference(options, n, i);
}

}  // namespace tra
