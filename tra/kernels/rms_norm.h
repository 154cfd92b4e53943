// Computes RMSNorm together with the residual addition before it, in one pass over memory.
//
//   sum = x + y
//   out = sum * inv_rms * gain,  inv_rms = 1 / sqrt(mean(sum^2) + eps) of each row
//
// All tensors are contiguous.
#ifndef TRA_KERNELS_RMS_NORM_H_
#define TRA_KERNELS_RMS_NORM_H_

#include <cstddef>

#include "tra/kernels/parallel.h"

namespace tra {

struct RmsNormShape {
  size_t rows = 0;
  size_t width = 0;  // at least 1
};

template <typename T>
struct RmsNormForwardArgs {
  RmsNormShape shape;
  const T* x = nullptr;     // [rows, width]
  const T* y = nullptr;     // [rows, width]; null if nothing is added
  const T* gain = nullptr;  // [width]
  float eps = 1e-6f;
  T* sum = nullptr;      // [rows, width]; not written where y is null, since it would equal x
  T* out = nullptr;      // [rows, width]
  T* inv_rms = nullptr;  // [rows], for the backward; null where no gradient is wanted
};

template <typename T>
struct RmsNormBackwardArgs {
  RmsNormShape shape;
  const T* sum = nullptr;      // [rows, width]; x where nothing was added
  const T* gain = nullptr;     // [width]
  const T* inv_rms = nullptr;  // [rows]
  const T* d_out = nullptr;    // [rows, width]
  const T* d_sum = nullptr;    // [rows, width], other gradients that reach the sum; null if there are none
  T* d_x = nullptr;            // [rows, width], overwritten; also the gradient of y
  T* d_gain = nullptr;         // [width], overwritten
};

// Results are bit-equal over repeats and for any number of workers.
void RmsNormForward(const RmsNormForwardArgs<float>& args, Parallel& parallel);
void RmsNormBackward(const RmsNormBackwardArgs<float>& args, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_RMS_NORM_H_
