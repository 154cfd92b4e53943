// Runs the passes on the best SIMD target of the machine. Callers must have checked the problem.
#ifndef TRA_KERNELS_ATTENTION_PASSES_H_
#define TRA_KERNELS_ATTENTION_PASSES_H_

#include "tra/kernels/attention.h"
#include "tra/kernels/attention/key_length_bound.h"
#include "tra/kernels/attention_rows.h"

namespace tra {

// Call RunForward and RunDecode only if there is a query. `key_lengths` may be null; see KeyLengthBound.
void RunForward(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyLengthBound* key_lengths,
                Parallel& parallel);
void RunBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);
void RunDecode(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);

// Tiles of queries start at multiples of this on every target, so that the rows of a rectangle stop where they do in
// the whole problem if its forward starts at such a multiple.
constexpr size_t kTilesStartAt = 48;

// Holds what RunRows needs of the forward, which must have run: its sums and where it stopped.
struct RowsPlan {
  ForwardArgs<float> forward;  // its queries begin at `first_query` of the problem and end where the rectangle does
  size_t first_query = 0;      // a multiple of kTilesStartAt
  const KeyLengthBound* key_lengths = nullptr;
};
void RunRows(const AttentionRowsArgs<float>& args, const AttentionOptions& options, const RowsPlan& plan,
             Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_PASSES_H_
