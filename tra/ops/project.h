// Several Linears of one input, as attention has them: one product forward, and backward no sum of their gradients but
// products that add to each other.
#ifndef TRA_OPS_PROJECT_H_
#define TRA_OPS_PROJECT_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace tra {

// x [B,T,E], weights [n_i,E], biases [n_i] or undefined -> x weight^T + bias, [B,T,n_i] each. The results share one
// buffer, so their rows are not adjacent.
std::vector<at::Tensor> Project(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases);

}  // namespace tra

#endif  // TRA_OPS_PROJECT_H_
