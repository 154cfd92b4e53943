// Dropout of a flat array. The mask is a pure function of the seed and the element's index (philox.h), so that the
// backward makes it again and nothing stores it.
#ifndef TRA_KERNELS_DROPOUT_H_
#define TRA_KERNELS_DROPOUT_H_

#include <cstddef>
#include <cstdint>

#include "tra/kernels/parallel.h"

namespace tra {

struct DropoutOptions {
  float p = 0.0f;  // in [0, 1), counted in steps of 2^-16
  uint64_t seed = 0;
};

// Throws std::invalid_argument unless p is in [0, 1).
void CheckDropout(const DropoutOptions& options);

// out[i] = x[i] * (0 where element i is dropped, 1 / (1 - p) elsewhere). A dropped NaN stays NaN: none is swallowed.
// The gradient is the same function of the gradient.
void ApplyDropout(const float* x, size_t n, const DropoutOptions& options, float* out, Parallel& parallel);

// The same as a plain loop in float64.
void ApplyDropoutReference(const double* x, size_t n, const DropoutOptions& options, double* out);

}  // namespace tra

#endif  // TRA_KERNELS_DROPOUT_H_
