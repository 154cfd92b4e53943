// Applies rotary position embedding to tensors, with autograd.
//
// fp32 on the CPU takes one pass over memory; any other dtype or device is composed of tensor operations.
#ifndef TRA_OPS_ROPE_H_
#define TRA_OPS_ROPE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tra {

// Rotates x [B,H,T,d], d even, any strides. The result has the same shape, laid out as [B,T,H,d] in memory where x is.
// The pair (c, c + d/2) at position first_position + t is rotated by the angle (first_position + t) * theta^(-2c/d).
at::Tensor Rope(const at::Tensor& x, int64_t first_position = 0, double theta = 10000.0);

}  // namespace tra

#endif  // TRA_OPS_ROPE_H_
