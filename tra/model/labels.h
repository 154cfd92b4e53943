// Draws random labels (Li & McClelland, 2022): positions are replaced by a random, increasing subset of a longer range,
// so that training has seen the large labels too.
#ifndef TRA_MODEL_LABELS_H_
#define TRA_MODEL_LABELS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "tra/ops/draws.h"

namespace tra {

// Draws labels for lengths int64 [B], each at most `columns`, and returns int64 [B,columns]. Each row is a sorted
// subset of 0..range-1 with as many members as its length, every subset equally likely, followed by zeros. A row is a
// function of its length, the range, the seed and the id of its sequence; without ids they are 0, 1, 2, ...
at::Tensor DrawLabels(const Draws& draws, const at::Tensor& lengths, int64_t columns, int64_t range);

}  // namespace tra

#endif  // TRA_MODEL_LABELS_H_
