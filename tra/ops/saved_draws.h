// Passes draws to the kernels and to the backward.
#ifndef TRA_OPS_SAVED_DRAWS_H_
#define TRA_OPS_SAVED_DRAWS_H_

#include "tra/ops/draws.h"

namespace torch::autograd {
struct AutogradContext;
}

namespace tra {

// Returns the ids of the sequences of a batch of this size, or null where they are undefined. Refuses ids that do not
// fit.
const int64_t* SequenceIds(const char* name, const Draws& draws, int64_t batch);

// Carry draws from the forward of an autograd function to its backward. Ids and offsets are copied, because a caller
// may reuse the tensors.
void SaveDraws(torch::autograd::AutogradContext& context, const Draws& draws);
Draws SavedDraws(torch::autograd::AutogradContext& context);

}  // namespace tra

#endif  // TRA_OPS_SAVED_DRAWS_H_
