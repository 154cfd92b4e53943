// RMSNorm on tensors, with autograd, alone and fused with the residual addition before it.
//
// fp32 on the CPU runs on one pass over memory; any other dtype or device is composed of tensor operations.
#ifndef TRA_OPS_RMS_NORM_H_
#define TRA_OPS_RMS_NORM_H_

#include <ATen/core/Tensor.h>

#include <tuple>

namespace tra {

// x [..., E], gain [E] -> x / sqrt(mean(x^2) + eps) * gain.
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& gain, double eps = 1e-6);

// x, y [..., E] -> (x + y, RmsNorm(x + y)).
std::tuple<at::Tensor, at::Tensor> AddRmsNorm(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gain,
                                              double eps = 1e-6);

}  // namespace tra

#endif  // TRA_OPS_RMS_NORM_H_
