// Computes several Linears of one input, as attention has them: in one product forward, and backward in products that
// add to one gradient instead of several that must be summed.
#ifndef TRA_OPS_PROJECT_H_
#define TRA_OPS_PROJECT_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace tra {

// Returns x weight^T + bias, [B,T,n_i], for each of the weights [n_i,E] and biases [n_i] or undefined, with x [B,T,E].
// The results may share one buffer, so their rows need not be adjacent.
std::vector<at::Tensor> Project(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases);

}  // namespace tra

#endif  // TRA_OPS_PROJECT_H_
