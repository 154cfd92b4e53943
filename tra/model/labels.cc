#include "tra/model/labels.h"

#include <ATen/ATen.h>

#include <numeric>

#include "tra/base/philox.h"
#include "tra/ops/saved_draws.h"

namespace tra {

at::Tensor DrawLabels(const Draws& draws, const std::vector<int64_t>& lengths, int64_t range) {
  const int64_t* sequence_ids = SequenceIds("label", draws, static_cast<int64_t>(lengths.size()));
  at::Tensor labels = at::empty({std::accumulate(lengths.begin(), lengths.end(), int64_t{0})}, at::kLong);
  auto* to = labels.data_ptr<int64_t>();
  for (size_t sequence = 0; sequence < lengths.size(); ++sequence) {
    const int64_t length = lengths[sequence];
    TORCH_CHECK_VALUE(length <= range, "label: ", length, " positions need as many labels, but there are ", range,
                      "; set max_length to at least ", length);
    const uint64_t seed = SequenceSeed(draws.seed, sequence_ids, sequence);
    std::array<uint32_t, 4> words{};
    int64_t wanted = length;
    // Takes each candidate with the probability that a random subset of the remaining range contains it.
    for (int64_t label = 0; wanted > 0; ++label) {
      if (label % 4 == 0) {
        words = DrawWords(seed, Stream::kLabels, {static_cast<uint32_t>(label / 4), 0, 0});
      }
      const auto left = static_cast<uint64_t>(range - label);
      if (static_cast<int64_t>((words[static_cast<size_t>(label % 4)] * left) >> 32) >= wanted) continue;
      *to++ = label;
      --wanted;
    }
  }
  return labels;
}

}  // namespace tra
