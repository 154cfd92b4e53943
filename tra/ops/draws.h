// Defines what dropout and labels draw from.
#ifndef TRA_OPS_DRAWS_H_
#define TRA_OPS_DRAWS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace tra {

// A sequence's draws are a function of the seed, the sequence's id and the place in it, however sequences are batched.
// Use another seed, or another id, for every draw.
struct Draws {
  // Converts implicitly, because a seed is all that most callers have.
  Draws(uint64_t seed = 0, at::Tensor sequence_ids = {}, at::Tensor cu_seqlens = {})
      : seed(seed), sequence_ids(std::move(sequence_ids)), cu_seqlens(std::move(cu_seqlens)) {}

  // Returns the draws for part `which` of what these are for.
  Draws Of(uint64_t which) const;

  uint64_t seed;
  // The ids of the sequences, int64 [sequences] on the CPU. If undefined they are 0, 1, 2, ...; only Dropout and
  // SwiGlu, whose input need not be a batch, then take all of it as sequence 0.
  at::Tensor sequence_ids;
  // Where the sequences of a flat batch start, and last where all end, int32 [sequences + 1] on the CPU: see
  // attention.h. Undefined where the sequences are the entries of a batch.
  at::Tensor cu_seqlens;
};

}  // namespace tra

#endif  // TRA_OPS_DRAWS_H_
