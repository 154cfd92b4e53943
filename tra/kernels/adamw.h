// Takes one step of AdamW over any number of arrays, reading and writing each element once.
//
// adamw_reference.h computes the same in plain float64 loops.
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
  double grad_scale = 1.0;  // multiplies every gradient first: to clip it, or to turn a sum into a mean
  bool zero_grad = false;   // overwrites the gradients with zeros while they are still in the cache
};

// Describes one array to update; every pointer points to n elements.
template <typename T>
struct AdamWArray {
  size_t n = 0;
  T* parameter = nullptr;
  T* grad = nullptr;
  T* exp_avg = nullptr;     // running average of the gradient
  T* exp_avg_sq = nullptr;  // running average of its square
  int64_t step = 1;         // the number of this step, counted from 1
  double weight_decay = 0.0;
};

// Throw std::invalid_argument, with the remedy in the message, for values that would make every parameter NaN.
void CheckAdamW(const AdamWOptions& options);
void CheckAdamWStep(int64_t step);

// Updates every array as torch.optim.AdamW does. With g = grad_scale * grad:
//   parameter *= 1 - lr * weight_decay
//   exp_avg = beta1 * exp_avg + (1 - beta1) * g,  exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g^2
//   parameter -= lr / (1 - beta1^step) * exp_avg / (sqrt(exp_avg_sq) / sqrt(1 - beta2^step) + eps)
// Results are bit-equal over repeats and for any number of workers. Throws std::invalid_argument for what CheckAdamW
// and CheckAdamWStep refuse.
void AdamWUpdate(const std::vector<AdamWArray<float>>& arrays, const AdamWOptions& options, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ADAMW_H_
