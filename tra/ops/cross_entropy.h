// The cross-entropy of a language-model head, without ever holding logits or probabilities of all tokens.
//
// fp32 on the CPU goes over the supervised positions in chunks, whose logits become their gradient in place; what
// backward needs is computed on the way and waits as [positions, E] and [V, E]. Any other dtype or device runs the same
// maths composed of tensor operations, which is also reachable by name for comparison.
#ifndef TRA_OPS_CROSS_ENTROPY_H_
#define TRA_OPS_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tra {

// The usual target of a position that is not supervised; any negative one means the same.
constexpr int64_t kIgnore = -100;

// What the logits of a chunk may take: enough for the products to run at full speed, little beside a model.
constexpr int64_t kLogitsBytes = int64_t{64} << 20;

struct CrossEntropySum {
  // 0-dim, the sum over supervised positions: divide by `supervised` for their mean. Float64 for float64 inputs, else
  // float32.
  at::Tensor loss;
  int64_t supervised = 0;  // positions
  int64_t correct = 0;     // of them, where the target is the first of the largest logits
};

// Of logits = hidden weight^T. hidden [..., E], weight [V, E], targets int64 [...].
// Gradients reach hidden and weight; positions that are not supervised get zeros. A logit that is not finite makes the
// loss NaN. Bit-equal over repeats and, but for what torch's matrix products do, over the number of threads.
CrossEntropySum LinearCrossEntropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                   int64_t logits_bytes = kLogitsBytes);

// The same by tensor operations that hold the logits of all supervised positions.
CrossEntropySum LinearCrossEntropyComposed(const at::Tensor& hidden, const at::Tensor& weight,
                                           const at::Tensor& targets);

struct PositionLosses {
  at::Tensor losses;   // [...] float64, 0 where not supervised
  at::Tensor correct;  // [...] bool, false where not supervised
};

// Position by position, for evaluation; no gradient.
PositionLosses TokenLosses(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                           int64_t logits_bytes = kLogitsBytes);

}  // namespace tra

#endif  // TRA_OPS_CROSS_ENTROPY_H_
