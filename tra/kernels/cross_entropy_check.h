#ifndef TRA_KERNELS_CROSS_ENTROPY_CHECK_H_
#define TRA_KERNELS_CROSS_ENTROPY_CHECK_H_

#include <cstddef>
#include <cstdint>

namespace tra {

// Throws std::invalid_argument for a target outside [0, classes).
void CheckTargets(const int64_t* targets, size_t rows, size_t classes);

}  // namespace tra

#endif  // TRA_KERNELS_CROSS_ENTROPY_CHECK_H_
