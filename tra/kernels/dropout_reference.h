// Computes what the kernel computes, in plain float64 loops.
#ifndef TRA_KERNELS_DROPOUT_REFERENCE_H_
#define TRA_KERNELS_DROPOUT_REFERENCE_H_

#include <cstddef>

#include "tra/kernels/dropout.h"

namespace tra {

// Returns what element i of n is multiplied by.
double DropoutFactorReference(const DropoutOptions& options, size_t n, size_t i);

void ApplyDropoutReference(const double* x, size_t n, const DropoutOptions& options, double* out);

}  // namespace tra

#endif  // TRA_KERNELS_DROPOUT_REFERENCE_H_
