#ifndef TRA_KERNELS_ATTENTION_CHECK_H_
#define TRA_KERNELS_ATTENTION_CHECK_H_

#include "tra/kernels/attention.h"

namespace tra {

// Throws std::invalid_argument, naming the remedy, for what no kernel can compute.
void CheckProblem(const AttentionShape& shape, const AttentionOptions& options);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_CHECK_H_
