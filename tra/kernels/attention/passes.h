// Runs the three passes on the best SIMD target of the machine. Callers must have checked the problem.
#ifndef TRA_KERNELS_ATTENTION_PASSES_H_
#define TRA_KERNELS_ATTENTION_PASSES_H_

#include "tra/kernels/attention.h"
#include "tra/kernels/attention/key_length_bound.h"

namespace tra {

// Call RunForward and RunDecode only if there is a query. `key_lengths` may be null; see KeyLengthBound.
void RunForward(const ForwardArgs<float>& args, const AttentionOptions& options, const KeyLengthBound* key_lengths,
                Parallel& parallel);
void RunBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);
void RunDecode(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_PASSES_H_
