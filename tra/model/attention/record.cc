#include "tra/model/attention/record.h"

#include <ATen/ATen.h>

#include "tra/kernels/attention/rules.h"

namespace tra {

AttentionMatrix RecordedAttention::Rows(int64_t sequence, int64_t head, const MatrixPart& part) const {
  const at::Tensor& q = inputs.q;
  TORCH_CHECK_VALUE(sequence >= 0 && sequence < q.size(0), "record: there is no sequence ", sequence, ", only 0 to ",
                    q.size(0) - 1);
  TORCH_CHECK_VALUE(head >= 0 && head < q.size(1), "record: there is no head ", head, ", only 0 to ", q.size(1) - 1);
  const auto of_head = [&](const at::Tensor& x) { return x.narrow(0, sequence, 1).narrow(1, head, 1); };
  at::Tensor rule_input = inputs.rule_input;
  if (InfoOf(inputs.rule).rows == InputRows::kDistances) {
    rule_input = rule_input.narrow(0, head, 1);  // [H,distance]
  } else if (rule_input.defined()) {
    rule_input = of_head(rule_input);
  }
  return AttentionRows(of_head(q), of_head(inputs.k), rule_input, options, part);
}

}  // namespace tra
