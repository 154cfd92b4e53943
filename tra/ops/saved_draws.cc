#include "tra/ops/saved_draws.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/kernels/philox.h"

namespace tra {

Draws Draws::Of(uint64_t which) const { return {SeedOf(seed, which), numbers}; }

const int64_t* SequenceNumbers(const char* name, const Draws& draws, int64_t batch) {
  const at::Tensor& numbers = draws.numbers;
  if (!numbers.defined()) return nullptr;
  TORCH_CHECK_VALUE(numbers.scalar_type() == at::kLong && numbers.dim() == 1 && numbers.size(0) == batch &&
                        numbers.device().is_cpu() && numbers.is_contiguous(),
                    name, ": the numbers of ", batch, " sequences must be contiguous int64 [", batch,
                    "] on the CPU, got ", numbers.scalar_type(), " ", numbers.sizes(), " on ", numbers.device(),
                    " with strides ", numbers.strides());
  return numbers.data_ptr<int64_t>();
}

void SaveDraws(torch::autograd::AutogradContext& context, const Draws& draws) {
  context.saved_data["seed"] = static_cast<int64_t>(draws.seed);
  if (draws.numbers.defined()) context.saved_data["numbers"] = draws.numbers.clone();
}

Draws SavedDraws(torch::autograd::AutogradContext& context) {
  auto& data = context.saved_data;
  Draws draws(static_cast<uint64_t>(data["seed"].toInt()));
  if (data.find("numbers") != data.end()) draws.numbers = data["numbers"].toTensor();
  return draws;
}

}  // namespace tra
