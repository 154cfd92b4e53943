// Draws random labels (Li & McClelland, 2022): positions are replaced by a random, increasing subset of a longer range,
// so that training has seen the large labels too.
#ifndef TRA_MODEL_LABELS_H_
#define TRA_MODEL_LABELS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "tra/ops/draws.h"

namespace tra {

// Draws labels for sequences of these lengths, and returns them one after the other, int64 [sum of lengths]. Those of a
// sequence are a sorted subset of 0..range-1 with as many members as its length, every subset equally likely: a
// function of its length, the range, the seed and its id; without ids they are 0, 1, 2, ...
at::Tensor DrawLabels(const Draws& draws, const std::vector<int64_t>& lengths, int64_t range);

}  // namespace tra

#endif  // TRA_MODEL_LABELS_H_
