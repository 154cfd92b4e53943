#include "tra/model/labels.h"

#include <ATen/ATen.h>

#include "tra/kernels/philox.h"

namespace tra {

at::Tensor DrawLabels(int64_t sequences, int64_t length, int64_t range, uint64_t seed, int64_t first_sequence) {
  TORCH_CHECK_VALUE(length <= range, "label: ", length, " positions need as many labels, but there are ", range,
                    "; set max_length to at least ", length);
  at::Tensor labels = at::empty({sequences, length}, at::kLong);
  auto* to = labels.data_ptr<int64_t>();
  constexpr uint32_t kLabels = 3;  // keeps these draws apart from others under the same seed
  for (int64_t row = 0; row < sequences; ++row) {
    const auto sequence = static_cast<uint64_t>(first_sequence + row);
    std::array<uint32_t, 4> words{};
    int64_t wanted = length;
    // Each candidate is taken with the probability that a random subset of the rest has it.
    for (int64_t label = 0; wanted > 0; ++label) {
      if (label % 4 == 0) {
        words = Philox({static_cast<uint32_t>(label / 4), static_cast<uint32_t>(sequence),
                        static_cast<uint32_t>(sequence >> 32), kLabels},
                       {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
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
