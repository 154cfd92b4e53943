// Computes SwiGLU and the dropout after it in one pass over memory.
//
//   out = up * silu(gate) * dropout,  silu(g) = g / (1 + exp(-g))
//
// The dropout mask is the one that ApplyDropout (dropout.h) would apply to the output. All tensors are contiguous.
#ifndef TRA_KERNELS_SWIGLU_H_
#define TRA_KERNELS_SWIGLU_H_

#include <cstddef>

#include "tra/kernels/dropout.h"
#include "tra/kernels/parallel.h"

namespace tra {

struct SwiGluShape {
  size_t rows = 0;
  size_t width = 0;  // channels of the output
};

template <typename T>
struct SwiGluForwardArgs {
  SwiGluShape shape;
  const T* x = nullptr;  // [rows, 2 width]: up, then gate
  DropoutOptions dropout;
  T* out = nullptr;  // [rows, width]
};

template <typename T>
struct SwiGluBackwardArgs {
  SwiGluShape shape;
  const T* x = nullptr;  // [rows, 2 width]
  DropoutOptions dropout;
  const T* d_out = nullptr;  // [rows, width]
  T* d_x = nullptr;          // [rows, 2 width], overwritten
};

// Results are bit-equal over repeats and for any number of workers.
void SwiGluForward(const SwiGluForwardArgs<float>& args, Parallel& parallel);
void SwiGluBackward(const SwiGluBackwardArgs<float>& args, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_SWIGLU_H_
