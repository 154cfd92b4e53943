// What the kernel computes, as plain loops in float64.
#ifndef TRA_KERNELS_CROSS_ENTROPY_REFERENCE_H_
#define TRA_KERNELS_CROSS_ENTROPY_REFERENCE_H_

#include "tra/kernels/cross_entropy.h"

namespace tra {

// For T = float and double.
template <typename T>
void CrossEntropyReference(const CrossEntropyArgs<T>& args);

}  // namespace tra

#endif  // TRA_KERNELS_CROSS_ENTROPY_REFERENCE_H_
