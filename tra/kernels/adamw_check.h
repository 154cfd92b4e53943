#ifndef TRA_KERNELS_ADAMW_CHECK_H_
#define TRA_KERNELS_ADAMW_CHECK_H_

#include "tra/kernels/adamw.h"

namespace tra {

// Throw std::invalid_argument, naming the remedy, for what would make every parameter NaN.
void CheckAdamW(const AdamWOptions& options);
void CheckAdamWStep(int64_t step);

}  // namespace tra

#endif  // TRA_KERNELS_ADAMW_CHECK_H_
