// Computes what the kernel computes, in plain float64 loops.
#ifndef TRA_KERNELS_CROSS_ENTROPY_REFERENCE_H_
#define TRA_KERNELS_CROSS_ENTROPY_REFERENCE_H_

#include "tra/kernels/cross_entropy.h"

namespace tra {

// Instantiated for T = float and double.
template <typename T>
void CrossEntropyReference(const CrossEntropyArgs<T>& args);

}  // namespace tra

#endif  // TRA_KERNELS_CROSS_ENTROPY_REFERENCE_H_
