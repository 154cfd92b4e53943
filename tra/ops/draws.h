// What dropout and labels draw from.
#ifndef TRA_OPS_DRAWS_H_
#define TRA_OPS_DRAWS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace tra {

// A sequence's draws are a function of the seed, the sequence's id and the place in it, however sequences are
// batched. Draw with another seed, or for another id, every time.
struct Draws {
  // A seed is all that most callers have, so this converts.
  Draws(uint64_t seed = 0, at::Tensor sequence_ids = {}) : seed(seed), sequence_ids(std::move(sequence_ids)) {}

  // Returns those of part `which` of what these are for.
  Draws Of(uint64_t which) const;

  uint64_t seed;
  // int64 [B] on the CPU, of a batch's sequences. Undefined: 0, 1, 2, ...; but for Dropout and SwiGlu, whose input need
  // not be a batch, all of it is sequence 0.
  at::Tensor sequence_ids;
};

}  // namespace tra

#endif  // TRA_OPS_DRAWS_H_
