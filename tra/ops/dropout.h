// Dropout on tensors, with autograd: one pass over memory, and no mask is stored.
#ifndef TRA_OPS_DROPOUT_H_
#define TRA_OPS_DROPOUT_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "tra/kernels/dropout.h"

namespace tra {

// x, any shape -> x with elements dropped at probability p in [0, 1) and the others grown by 1 / (1 - p). Which ones is
// a function of the seed and of their index in x laid out contiguously: draw a new seed for every call.
at::Tensor Dropout(const at::Tensor& x, double p, uint64_t seed);

// What Dropout multiplies with: 0 or 1 / (1 - p).
at::Tensor DropoutFactorsLike(const at::Tensor& x, const DropoutOptions& options);

// Refuses p outside of [0, 1).
DropoutOptions CheckedDropout(const char* name, double p, uint64_t seed);

}  // namespace tra

#endif  // TRA_OPS_DROPOUT_H_
