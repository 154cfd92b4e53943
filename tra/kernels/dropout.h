// Drops elements of sequences. The mask is a pure function of the seed, the sequence's id and the element's index in
// the sequence (dropout_draws.h), so that the backward recomputes it and nothing stores it.
#ifndef TRA_KERNELS_DROPOUT_H_
#define TRA_KERNELS_DROPOUT_H_

#include <cstddef>
#include <cstdint>

#include "tra/kernels/parallel.h"

namespace tra {

struct DropoutOptions {
  float p = 0.0f;  // in [0, 1), takes effect in steps of 2^-16
  uint64_t seed = 0;
  // The array consists of this many sequences, one after the other.
  size_t sequences = 1;
  const int64_t* sequence_ids = nullptr;  // [sequences]; null: 0, 1, 2, ...
  // [sequences + 1]: the token at which each sequence starts, ascending from 0 to the number of tokens, which have the
  // same number of elements each. Null: the sequences have the same size.
  const int32_t* offsets = nullptr;
};

// Throws std::invalid_argument unless p is in [0, 1) and `elements` is a multiple of the number of sequences, which is
// at least 1, or of the number of tokens.
void CheckDropout(const DropoutOptions& options, size_t elements);

// Sets out[i] = x[i] * (0 where element i is dropped, 1 / (1 - p) elsewhere). A dropped NaN stays NaN, so that dropout
// hides none. The backward is the same function, applied to the gradient.
void ApplyDropout(const float* x, size_t n, const DropoutOptions& options, float* out, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_DROPOUT_H_
