// Random labels (Li & McClelland, 2022): positions seen through a random, increasing subset of a longer range, so that
// training has met the large ones.
#ifndef TRA_MODEL_LABELS_H_
#define TRA_MODEL_LABELS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tra {

// int64 [sequences, length]: each row a sorted subset of 0..range-1, every subset equally likely. A pure function of
// the seed and the number of the sequence, first_sequence for the first row.
at::Tensor DrawLabels(int64_t sequences, int64_t length, int64_t range, uint64_t seed, int64_t first_sequence = 0);

}  // namespace tra

#endif  // TRA_MODEL_LABELS_H_
