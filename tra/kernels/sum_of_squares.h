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

// In float64 and in a fixed order: the same bits for any number of workers and on any SIMD target. No finite element
// overflows it; NaN and Inf reach the result.
double SumOfSquares(const std::vector<ConstArray>& arrays, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_SUM_OF_SQUARES_H_
