// One step of AdamW over any number of arrays, reading and writing each element once.
//
// Has a plain float64 twin with the same signature in adamw_reference.h.
#ifndef TRA_KERNELS_ADAMW_H_
#define TRA_KERNELS_ADAMW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tra/kernels/parallel.h"

namespace tra {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double grad_scale = 1.0;  // multiplies every gradient first: for clipping, or for the mean of a sum
  bool zero_grad = false;   // leaves zeros in place of the gradients, while they are in the cache
};

// All arrays are [n].
template <typename T>
struct AdamWArray {
  size_t n = 0;
  T* parameter = nullptr;
  T* grad = nullptr;
  T* exp_avg = nullptr;     // of the gradient
  T* exp_avg_sq = nullptr;  // of its square
  int64_t step = 1;         // counts from 1
  double weight_decay = 0.0;
};

// Throw std::invalid_argument, naming the remedy, for what would make every parameter NaN.
void CheckAdamW(const AdamWOptions& options);
void CheckAdamWStep(int64_t step);

// With g = grad_scale * grad, as torch.optim.AdamW has it:
//   parameter *= 1 - lr * weight_decay
//   exp_avg = beta1 * exp_avg + (1 - beta1) * g,  exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g^2
//   parameter -= lr / (1 - beta1^step) * exp_avg / (sqrt(exp_avg_sq) / sqrt(1 - beta2^step) + eps)
// Bit-equal over repeats and over the number of workers. Throws std::invalid_argument for options without a result.
void AdamWUpdate(const std::vector<AdamWArray<float>>& arrays, const AdamWOptions& options, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ADAMW_H_
