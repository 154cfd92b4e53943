// Random labels (Li & McClelland, 2022): positions seen through a random, increasing subset of a longer range, so that
// training has met the large ones.
#ifndef TRA_MODEL_LABELS_H_
#define TRA_MODEL_LABELS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "tra/ops/draws.h"

namespace tra {

// lengths int64 [B], each at most `columns` -> int64 [B,columns]: each row a sorted subset of 0..range-1 with so many
// members, every subset equally likely, then zeros. A row is a function of its length, the seed and the number of its
// sequence, 0, 1, 2, ... where there are none.
at::Tensor DrawLabels(const Draws& draws, const at::Tensor& lengths, int64_t columns, int64_t range);

}  // namespace tra

#endif  // TRA_MODEL_LABELS_H_
