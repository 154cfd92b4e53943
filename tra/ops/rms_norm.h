// Computes RMSNorm on tensors, with autograd, alone or fused with the residual addition before it.
//
// fp32 on the CPU takes one pass over memory; any other dtype or device is composed of tensor operations.
#ifndef TRA_OPS_RMS_NORM_H_
#define TRA_OPS_RMS_NORM_H_

#include <ATen/core/Tensor.h>

#include <tuple>

namespace tra {

// Returns x / sqrt(mean(x^2) + eps) * gain, for x [..., E] and gain [E].
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& gain, double eps = 1e-6);

// Returns (x + y, RmsNorm(x + y)), for x and y [..., E].
std::tuple<at::Tensor, at::Tensor> AddRmsNorm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gain,
                                              double eps = 1e-6);

}  // namespace tra

#endif  // TRA_OPS_RMS_NORM_H_
