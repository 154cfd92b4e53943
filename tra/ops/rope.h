// Applies rotary position embedding to tensors, with autograd.
//
// fp32 on the CPU takes one pass over memory; any other dtype or device is composed of tensor operations.
#ifndef TRA_OPS_ROPE_H_
#define TRA_OPS_ROPE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace tra {

// Says at which positions the rows of a batch entry are: at `first` and after, or, where `each` is defined, where that
// says: contiguous int64 [T] on the CPU. The positions of a flat batch start anew in every sequence.
struct RowPositions {
  // Converts implicitly, because most rows are neighbours.
  RowPositions(int64_t first = 0, at::Tensor each = {}) : first(first), each(std::move(each)) {}

  int64_t first;
  at::Tensor each;
};

// Rotates x [B,H,T,d], d even, any strides. The result has the same shape, laid out as [B,T,H,d] in memory where x is.
// The pair (c, c + d/2) of the row at position p is rotated by the angle p * theta^(-2c/d).
at::Tensor Rope(const at::Tensor& x, const RowPositions& rows = {}, double theta = 10000.0);

}  // namespace tra

#endif  // TRA_OPS_ROPE_H_
