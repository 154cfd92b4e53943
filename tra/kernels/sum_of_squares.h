#ifndef TRA_KERNELS_SUM_OF_SQUARES_H_
#define TRA_KERNELS_SUM_OF_SQUARES_H_

#include <cstddef>
#include <vector>

#include "tra/kernels/parallel.h"

namespace tra {

struct ConstArray {
  size_t n = 0;
  const float* data = nullptr;  // [n]
};

// Returns the sum of the squares of all elements, added in float64 and in a fixed order: the bits are the same for any
// number of workers and on any SIMD target. Finite elements never overflow it; NaN and Inf reach the result.
double SumOfSquares(const std::vector<ConstArray>& arrays, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_SUM_OF_SQUARES_H_
