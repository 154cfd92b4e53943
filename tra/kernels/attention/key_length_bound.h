// Bounds the lengths of keys. Without QK-norm only |q| * |k| bounds the scores, so the early stop needs to know the
// length of the longest key still to come.
#ifndef TRA_KERNELS_ATTENTION_KEY_LENGTH_BOUND_H_
#define TRA_KERNELS_ATTENTION_KEY_LENGTH_BOUND_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "tra/kernels/attention.h"

namespace tra {

class KeyLengthBound {
 public:
  // Returns null where the stop is off or QK-norm bounds the scores.
  static std::unique_ptr<KeyLengthBound> IfNeeded(const AttentionShape& shape, const Rows<const float>& k,
                                                  const AttentionOptions& options, Parallel& parallel);

  // Returns the largest |k| of the keys before `first_key`, a multiple of kKeyBlock above 0.
  float LongestBefore(size_t batch, size_t head, size_t first_key) const;

 private:
  size_t Blocks(size_t batch) const { return (first_block_[batch + 1] - first_block_[batch]) / heads_; }

  size_t heads_ = 0;
  std::vector<size_t> first_block_;  // [batch + 1]: blocks of all heads of the sequences before
  std::vector<float> longest_;       // [batch, head, block]: the largest |k| of this block and all before it
};

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_KEY_LENGTH_BOUND_H_
