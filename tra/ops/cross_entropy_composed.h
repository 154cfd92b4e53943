#ifndef TRA_OPS_CROSS_ENTROPY_COMPOSED_H_
#define TRA_OPS_CROSS_ENTROPY_COMPOSED_H_

#include <ATen/core/Tensor.h>

namespace tra {

// Holds the losses of the supervised positions, in their order.
struct SupervisedLosses {
  at::Tensor positions;  // int64, in the flattened targets
  at::Tensor losses;     // differentiable
  at::Tensor correct;    // bool
};

SupervisedLosses ComposedLosses(const char* name, const at::Tensor& hidden, const at::Tensor& weight,
                                const at::Tensor& targets);

}  // namespace tra

#endif  // TRA_OPS_CROSS_ENTROPY_COMPOSED_H_
