// Computes what the kernel computes, in plain float64 loops.
#ifndef TRA_KERNELS_ADAMW_REFERENCE_H_
#define TRA_KERNELS_ADAMW_REFERENCE_H_

#include <vector>

#include "tra/kernels/adamw.h"

namespace tra {

// Instantiated for T = float and double.
template <typename T>
void AdamWUpdateReference(const std::vector<AdamWArray<T>>& arrays, const AdamWOptions& options);

}  // namespace tra

#endif  // TRA_KERNELS_ADAMW_REFERENCE_H_
