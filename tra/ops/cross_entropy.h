// Computes the cross-entropy of a language-model head without holding the logits or probabilities of all tokens at
// once.
//
// fp32 on the CPU visits the supervised positions in chunks, whose gradient overwrites their logits; what the backward
// needs is computed in the forward and kept as [positions, E] and [V, E]. Any other dtype or device runs the same maths
// composed of tensor operations, which is also reachable by name for comparison.
#ifndef TRA_OPS_CROSS_ENTROPY_H_
#define TRA_OPS_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tra {

// The usual target of a position that is not supervised; any negative one means the same.
constexpr int64_t kIgnore = -100;

// Bounds the bytes that the logits of a chunk take: enough for the products to run at full speed, little compared to a
// model.
constexpr int64_t kLogitsBytes = int64_t{64} << 20;

struct CrossEntropySum {
  // 0-dim, the sum over supervised positions: divide by `supervised` for their mean. Float64 for float64 inputs, else
  // float32.
  at::Tensor loss;
  int64_t supervised = 0;  // number of supervised positions
  int64_t correct = 0;     // those whose target is the first of the largest logits
};

// Returns the sum of the losses of logits = hidden weight^T, for hidden [..., E], weight [V, E] and targets int64
// [...]. Gradients reach hidden and weight; positions that are not supervised get zeros. A logit that is not finite
// makes the loss NaN. Results are bit-equal over repeats and, as far as torch's matrix products are, for any number of
// threads.
CrossEntropySum LinearCrossEntropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                   int64_t logits_bytes = kLogitsBytes);

// Computes the same by tensor operations that hold the logits of all supervised positions.
CrossEntropySum LinearCrossEntropyComposed(const at::Tensor& hidden, const at::Tensor& weight,
                                           const at::Tensor& targets);

struct PositionLosses {
  at::Tensor losses;   // [...] float64, 0 where not supervised
  at::Tensor correct;  // [...] bool, false where not supervised
};

// Returns the loss of each position, for evaluation and without gradient.
PositionLosses TokenLosses(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                           int64_t logits_bytes = kLogitsBytes);

}  // namespace tra

#endif  // TRA_OPS_CROSS_ENTROPY_H_
