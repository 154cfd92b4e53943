// A part of a batch as a model takes it.
#ifndef TRA_EVAL_PART_TENSORS_H_
#define TRA_EVAL_PART_TENSORS_H_

#include <ATen/ATen.h>

#include "tra/model/decoder.h"
#include "tra/tasks/batch.h"

namespace tra {

struct PartTensors {
  at::Tensor tokens, targets;  // [rows, columns]
  Pass pass;                   // what is drawn follows the examples' numbers
};

// Tokens and targets for a device; on the CPU, and numbers and lengths ever, views of the part, which must outlive
// them.
inline PartTensors ViewPart(BatchPart& part, uint64_t seed, at::Device device) {
  const auto matrix = [&](std::vector<int64_t>& values) {
    return at::from_blob(values.data(), {part.rows, part.columns}, at::kLong).to(device);
  };
  const auto column = [&](std::vector<int64_t>& values) {
    return at::from_blob(values.data(), {part.rows}, at::kLong);
  };
  PartTensors view{matrix(part.tokens), matrix(part.targets), {}};
  view.pass.draws = {seed, column(part.indices)};
  view.pass.lengths = column(part.lengths);
  return view;
}

}  // namespace tra

#endif  // TRA_EVAL_PART_TENSORS_H_
