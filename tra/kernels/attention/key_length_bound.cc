#include "tra/kernels/attention/key_length_bound.h"

#include <algorithm>
#include <cmath>

#include "tra/kernels/attention/layout.h"
#include "tra/kernels/attention/scoring.h"

namespace tra {

std::unique_ptr<KeyLengthBound> KeyLengthBound::IfNeeded(const AttentionShape& shape, const Rows<const float>& k,
                                                         const AttentionOptions& options, Parallel& parallel) {
  if (options.qk_norm || Scoring(shape, options).stop_eps == kStopNever) return nullptr;
  auto bound = std::make_unique<KeyLengthBound>();
  const size_t heads = shape.batch * shape.heads;
  const size_t blocks = bound->blocks_ = DivideUp(shape.keys, kKeyBlock);
  bound->longest_.resize(heads * blocks);
  parallel.Run(heads * blocks, [&](size_t task, size_t /*worker*/) {
    const size_t head = task / blocks;
    const size_t first = task % blocks * kKeyBlock;
    float largest = 0.0f;
    for (size_t key = first; key < std::min(first + kKeyBlock, shape.keys); ++key) {
      const float* row = k(head / shape.heads, head % shape.heads, key);
      float squares = 0.0f;
      for (size_t c = 0; c < shape.width; ++c) squares += row[c] * row[c];
      // NaN and overflow make the bound infinite, so that nothing stops and the NaN or Inf reaches the output.
      if (!(squares <= largest)) largest = std::isnan(squares) ? INFINITY : squares;
    }
    bound->longest_[task] = std::sqrt(largest);
  });
  for (size_t head = 0; head < heads; ++head) {
    float* of_head = bound->longest_.data() + head * blocks;
    for (size_t block = 1; block < blocks; ++block) of_head[block] = std::max(of_head[block], of_head[block - 1]);
  }
  return bound;
}

float KeyLengthBound::LongestBefore(size_t head_index, size_t first_key) const {
  return longest_[head_index * blocks_ + first_key / kKeyBlock - 1];
}

}  // namespace tra
