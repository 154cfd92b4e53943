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
  bound->heads_ = shape.heads;
  std::vector<size_t>& first_block = bound->first_block_ = {0};
  for (size_t b = 0; b < shape.batch; ++b) {
    first_block.push_back(first_block.back() + shape.heads * DivideUp(shape.Keys(b), kKeyBlock));
  }
  std::vector<float>& longest = bound->longest_;
  longest.resize(first_block.back());
  parallel.Run(longest.size(), [&](size_t task, size_t /*worker*/) {
    const auto next = std::upper_bound(first_block.begin(), first_block.end(), task);
    const size_t batch = static_cast<size_t>(next - first_block.begin()) - 1;
    const size_t blocks = bound->Blocks(batch), in_batch = task - first_block[batch];
    const size_t first = in_batch % blocks * kKeyBlock;
    float largest = 0.0f;
    for (size_t key = first; key < std::min(first + kKeyBlock, shape.Keys(batch)); ++key) {
      const float* row = k(batch, in_batch / blocks, key);
      float squares = 0.0f;
      for (size_t c = 0; c < shape.width; ++c) squares += row[c] * row[c];
      // NaN and overflow make the bound infinite, so that nothing stops and the NaN or Inf reaches the output.
      if (!(squares <= largest)) largest = std::isnan(squares) ? INFINITY : squares;
    }
    longest[task] = std::sqrt(largest);
  });
  for (size_t b = 0; b < shape.batch; ++b) {
    for (size_t i = first_block[b]; i < first_block[b + 1]; ++i) {
      if ((i - first_block[b]) % bound->Blocks(b) != 0) longest[i] = std::max(longest[i], longest[i - 1]);
    }
  }
  return bound;
}

float KeyLengthBound::LongestBefore(size_t batch, size_t head, size_t first_key) const {
  return longest_[first_block_[batch] + head * Blocks(batch) + first_key / kKeyBlock - 1];
}

}  // namespace tra
