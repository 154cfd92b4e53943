#ifndef TRA_OPS_CROSS_ENTROPY_CHECK_H_
#define TRA_OPS_CROSS_ENTROPY_CHECK_H_

#include <ATen/core/Tensor.h>

namespace tra {

// Refuses shapes, dtypes and devices that do not fit, and shows them in the message. Does not check the values of the
// targets.
void CheckCrossEntropy(const char* name, const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets);

// Refuses the largest target if it is not in the vocabulary.
void CheckLargestTarget(const char* name, int64_t largest, int64_t vocabulary);

}  // namespace tra

#endif  // TRA_OPS_CROSS_ENTROPY_CHECK_H_
