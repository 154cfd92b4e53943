// Gives a part of a batch as tensors. This is the only file of this folder that needs LibTorch; it is for programs that
// link LibTorch anyway.
#ifndef TRA_TASKS_PART_TENSORS_H_
#define TRA_TASKS_PART_TENSORS_H_

#include <ATen/ATen.h>

#include "tra/tasks/batch.h"

namespace tra {

struct PartTensors {
  at::Tensor tokens, targets;        // [rows, columns]
  at::Tensor sequence_ids, lengths;  // [rows], on the CPU
};

// Views a part as tensors; tokens and targets are copied to the device unless it is the CPU. The part must outlive the
// views.
inline PartTensors ViewPart(BatchPart& part, at::Device device) {
  const auto matrix = [&](std::vector<int64_t>& values) {
    return at::from_blob(values.data(), {part.rows, part.columns}, at::kLong).to(device);
  };
  const auto column = [&](std::vector<int64_t>& values) {
    return at::from_blob(values.data(), {part.rows}, at::kLong);
  };
  return {matrix(part.tokens), matrix(part.targets), column(part.sequence_ids), column(part.lengths)};
}

}  // namespace tra

#endif  // TRA_TASKS_PART_TENSORS_H_
