#ifndef TRA_KERNELS_ATTENTION_CHECK_H_
#define TRA_KERNELS_ATTENTION_CHECK_H_

#include "tra/kernels/attention.h"

namespace tra {

// Throw std::invalid_argument, naming the remedy, for what no kernel can compute.
void CheckShape(const AttentionShape& shape);
void CheckOptions(const AttentionOptions& options);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_CHECK_H_
