// Translates between tensors and the kernels' pointers.
#ifndef TRA_OPS_LAYOUT_H_
#define TRA_OPS_LAYOUT_H_

#include <ATen/ATen.h>

#include "tra/kernels/attention.h"

namespace tra {

// Returns whether the kernels compute x: they are fp32 on the CPU; anything else is composed of tensor operations.
inline bool OnKernels(const at::Tensor& x) { return x.device().is_cpu() && x.scalar_type() == at::kFloat; }

// Returns the type that the composed path computes in: half precision is widened first and narrowed again at the end.
inline at::ScalarType ComposedType(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Returns x in one piece, with numbers that are what its memory says: LibTorch postpones negations (torch._neg_view).
inline at::Tensor InOnePiece(const at::Tensor& x) { return x.resolve_neg().contiguous(); }

// Returns x with adjacent channels, which the kernels need; they handle all other strides themselves.
inline at::Tensor WithAdjacentChannels(const at::Tensor& x) {
  return x.stride(-1) == 1 || x.size(-1) == 1 ? x.resolve_neg() : InOnePiece(x);
}

// Return the rows of [B,H,T,d], or of [B,H,T] as one channel.
inline Rows<const float> View(const at::Tensor& x) {
  return {x.data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}
inline Rows<float> MutableView(const at::Tensor& x) {
  return {x.data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

// Returns an empty [B,H,T,d] tensor, laid out as [B,T,H,d] where x is: the projections around attention then need no
// copy.
inline at::Tensor EmptyLike(const at::Tensor& x, int64_t positions, int64_t channels) {
  const int64_t heads = x.size(1);
  const bool token_first = heads > 1 && x.stride(1) < x.stride(2);
  // Not a transposed view: autograd tracks views, and complains about those made without gradients.
  return at::empty_strided({x.size(0), heads, positions, channels},
                           {heads * positions * channels, token_first ? channels : positions * channels,
                            token_first ? heads * channels : channels, 1},
                           x.options());
}

}  // namespace tra

#endif  // TRA_OPS_LAYOUT_H_
