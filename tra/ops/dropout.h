// Applies dropout to tensors, with autograd: in one pass over memory, and without storing a mask.
#ifndef TRA_OPS_DROPOUT_H_
#define TRA_OPS_DROPOUT_H_

#include <ATen/core/Tensor.h>

#include "tra/kernels/dropout.h"
#include "tra/ops/draws.h"

namespace tra {

// Returns x, of any shape, with elements dropped at probability p in [0, 1) and the others multiplied by 1 / (1 - p).
// Which ones are dropped is a function of the seed and of their index in x laid out contiguously. With ids of
// sequences, x is [B, ...], or [1, tokens, ...] of a flat batch, and it is a function of the seed, the id and their
// index in the sequence.
at::Tensor Dropout(const at::Tensor& x, double p, const Draws& draws);

// Returns what Dropout multiplies x by: 0 or 1 / (1 - p).
at::Tensor DropoutFactorsLike(const at::Tensor& x, const DropoutOptions& options);

// Returns the options of the kernel for x; refuses p outside of [0, 1), and ids and offsets that do not fit. These must
// outlive the options.
DropoutOptions CheckedDropout(const char* name, double p, const Draws& draws, const at::Tensor& x);

}  // namespace tra

#endif  // TRA_OPS_DROPOUT_H_
