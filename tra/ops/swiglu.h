// Computes SwiGLU on tensors, with autograd and dropout.
//
// fp32 on the CPU takes one pass over memory; any other dtype or device is composed of tensor operations.
#ifndef TRA_OPS_SWIGLU_H_
#define TRA_OPS_SWIGLU_H_

#include <ATen/core/Tensor.h>

#include "tra/ops/draws.h"

namespace tra {

// Returns Dropout(up * silu(gate), dropout_p, draws), [..., F], for x [..., 2F], up then gate; the mask is that of
// dropout.h.
at::Tensor SwiGlu(const at::Tensor& x, double dropout_p = 0.0, const Draws& draws = {});

}  // namespace tra

#endif  // TRA_OPS_SWIGLU_H_
