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
  Draws(uint64_t seed = 0, at::Tensor sequence_ids = {}) : seed(seed), sequence_ids(std::move(sequence_ids)) {}

  // Returns the draws for part `which` of what these are for.
  Draws Of(uint64_t which) const;

  uint64_t seed;
  // The ids of a batch's sequences, int64 [B] on the CPU. If undefined they are 0, 1, 2, ...; only Dropout and SwiGlu,
  // whose input need not be a batch, then take all of it as sequence 0.
  at::Tensor sequence_ids;
};

}  // namespace tra

#endif  // TRA_OPS_DRAWS_H_
