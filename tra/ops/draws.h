// What dropout on tensors draws from.
#ifndef TRA_OPS_DRAWS_H_
#define TRA_OPS_DRAWS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace torch::autograd {
struct AutogradContext;
}

namespace tra {

// A sequence's draws are a function of the seed, its number and the place in it, however sequences are batched. Draw
// with another seed, or for another number, every time.
struct Draws {
  Draws(uint64_t seed = 0, at::Tensor sequences = {})  // NOLINT(google-explicit-constructor): a seed is all most need
      : seed(seed), sequences(std::move(sequences)) {}

  // Those of part `which` of what these are for.
  Draws Of(uint64_t which) const;

  uint64_t seed;
  at::Tensor sequences;  // int64 [B], the numbers of a batch's sequences, on the CPU; undefined: see the operator
};

// The numbers, or null where there are none. Refuses any that are not int64 [batch].
const int64_t* SequenceNumbers(const char* name, const Draws& draws, int64_t batch);

// From the forward of an autograd function to its backward.
void SaveDraws(torch::autograd::AutogradContext& context, const Draws& draws);
Draws SavedDraws(torch::autograd::AutogradContext& context);

}  // namespace tra

#endif  // TRA_OPS_DRAWS_H_
