// Gives a flat batch as tensors. This is the only file of this folder that needs LibTorch; it is for programs that link
// LibTorch anyway.
#ifndef TRA_TASKS_BATCH_TENSORS_H_
#define TRA_TASKS_BATCH_TENSORS_H_

#include <ATen/ATen.h>

#include "tra/tasks/batch.h"

namespace tra {

struct BatchTensors {
  at::Tensor tokens, targets;  // int64 [1, positions]
  at::Tensor sequence_ids;     // int64 [sequences], on the CPU
  at::Tensor cu_seqlens;       // int32 [sequences + 1], on the CPU
};

// Views a batch as tensors; tokens and targets are copied to the device unless it is the CPU. The batch must outlive
// the views.
inline BatchTensors ViewBatch(FlatBatch& batch, at::Device device) {
  const auto view = [](auto& values, at::ScalarType type) {
    return at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, type);
  };
  return {view(batch.tokens, at::kLong).unsqueeze(0).to(device), view(batch.targets, at::kLong).unsqueeze(0).to(device),
          view(batch.sequence_ids, at::kLong), view(batch.offsets, at::kInt)};
}

}  // namespace tra

#endif  // TRA_TASKS_BATCH_TENSORS_H_
