#include "tra/ops/draws.h"

#include <torch/csrc/autograd/custom_function.h>

#include "tra/kernels/philox.h"

namespace tra {

Draws Draws::Of(uint64_t which) const { return {SeedOf(seed, which), sequences}; }

const int64_t* SequenceNumbers(const char* name, const Draws& draws, int64_t batch) {
  const at::Tensor& sequences = draws.sequences;
  if (!sequences.defined()) return nullptr;
  TORCH_CHECK_VALUE(sequences.scalar_type() == at::kLong && sequences.dim() == 1 && sequences.size(0) == batch &&
                        sequences.device().is_cpu() && sequences.is_contiguous(),
                    name, ": the numbers of ", batch, " sequences must be contiguous int64 [", batch,
                    "] on the CPU, got ", sequences.scalar_type(), " ", sequences.sizes());
  return sequences.data_ptr<int64_t>();
}

void SaveDraws(torch::autograd::AutogradContext& context, const Draws& draws) {
  context.saved_data["seed"] = static_cast<int64_t>(draws.seed);
  if (draws.sequences.defined()) context.saved_data["sequences"] = draws.sequences;
}

Draws SavedDraws(torch::autograd::AutogradContext& context) {
  auto& data = context.saved_data;
  Draws draws(static_cast<uint64_t>(data["seed"].toInt()));
  if (data.find("sequences") != data.end()) draws.sequences = data["sequences"].toTensor();
  return draws;
}

}  // namespace tra
