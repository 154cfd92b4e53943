// Without QK-norm nothing bounds the scores but |q| * |k|, so the early stop needs the longest key still to come.
#ifndef TRA_KERNELS_KEY_NORMS_H_
#define TRA_KERNELS_KEY_NORMS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "tra/kernels/attention.h"

namespace tra {

class KeyNorms {
 public:
  // Null where the stop is off or QK-norm bounds the scores.
  static std::unique_ptr<KeyNorms> IfNeeded(const AttentionShape& shape, const Rows<const float>& k,
                                            const AttentionOptions& options, Parallel& parallel);

  // The largest |k| of the keys before `first_key`, a multiple of kKeyBlock above 0.
  float MaxBefore(size_t head_index, size_t first_key) const;

 private:
  size_t blocks_ = 0;
  std::vector<float> prefix_max_;  // [head][block]
};

}  // namespace tra

#endif  // TRA_KERNELS_KEY_NORMS_H_
