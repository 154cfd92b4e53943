// Every matrix product of a model goes through here: Linears, their gradients, the head's chunks. oneDNN computes them;
// it chooses its kernels by what the processor can do, and runs on LibTorch's threads (docs/models.md has the
// measurements that chose it).
#ifndef TRA_OPS_PRODUCT_H_
#define TRA_OPS_PRODUCT_H_

#include <ATen/core/Tensor.h>

#include <string>

namespace tra {

// Whether `out` is overwritten or added to.
enum class Into : uint8_t { kSet, kAdd };

// Computes out [m,n] = a [m,k] b [k,n], or adds it to out. All are fp32 on the CPU; out has adjacent columns, a and b
// may be transposed or narrowed views.
void Multiply(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Into into = Into::kSet);

// Returns the library that computes them, with the version that runs: "oneDNN 2.6.3".
std::string ProductLibrary();

// Returns x [...,k] weight^T + bias for weight [n,k] and bias [n] or undefined, with autograd. What is not fp32 on the
// CPU goes to at::linear.
at::Tensor ApplyLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace tra

#endif  // TRA_OPS_PRODUCT_H_
