#include "tra/ops/saved_draws.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tra/base/philox.h"

namespace tra {

Draws Draws::Of(uint64_t which) const { return {SeedOf(seed, which), sequence_ids, cu_seqlens}; }

const int64_t* SequenceIds(const char* name, const Draws& draws, int64_t batch) {
  const at::Tensor& sequence_ids = draws.sequence_ids;
  if (!sequence_ids.defined()) return nullptr;
  TORCH_CHECK_VALUE(sequence_ids.scalar_type() == at::kLong && sequence_ids.dim() == 1 &&
                        sequence_ids.size(0) == batch && sequence_ids.device().is_cpu() && sequence_ids.is_contiguous(),
                    name, ": the ids of ", batch, " sequences must be contiguous int64 [", batch, "] on the CPU, got ",
                    sequence_ids.scalar_type(), " ", sequence_ids.sizes(), " on ", sequence_ids.device(),
                    " with strides ", sequence_ids.strides());
  return sequence_ids.data_ptr<int64_t>();
}

void SaveDraws(torch::autograd::AutogradContext& context, const Draws& draws) {
  context.saved_data["seed"] = static_cast<int64_t>(draws.seed);
  if (draws.sequence_ids.defined()) context.saved_data["sequence_ids"] = draws.sequence_ids.clone();
  if (draws.cu_seqlens.defined()) context.saved_data["cu_seqlens"] = draws.cu_seqlens.clone();
}

Draws SavedDraws(torch::autograd::AutogradContext& context) {
  auto& data = context.saved_data;
  Draws draws(static_cast<uint64_t>(data["seed"].toInt()));
  if (data.find("sequence_ids") != data.end()) draws.sequence_ids = data["sequence_ids"].toTensor();
  if (data.find("cu_seqlens") != data.end()) draws.cu_seqlens = data["cu_seqlens"].toTensor();
  return draws;
}

}  // namespace tra
