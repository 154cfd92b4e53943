// Shows any part of the attention matrix on tensors, with every term of its logits: torch.ops.tra.attention_rows.
#ifndef TRA_OPS_ATTENTION_ROWS_H_
#define TRA_OPS_ATTENTION_ROWS_H_

#include <ATen/core/Tensor.h>

#include "tra/kernels/attention_rows.h"

namespace tra {

// Names a rectangle of the matrix [query, key]: from the first up to but without the last; -1: to the end.
struct MatrixPart {
  int64_t first_query = 0, last_query = -1;
  int64_t first_key = 0, last_key = -1;
};

// Holds the fields of AttentionRowsArgs for a part: [B,H,queries,keys], the last two [B,H,queries].
struct AttentionMatrix {
  at::Tensor state;  // uint8, see KeyState
  at::Tensor score, position, term, logit, weight;
  at::Tensor stopped_at;  // int32
  at::Tensor unseen;
};

// Computes the part for q [B,H,Tq,d] and k [B,H,Tk,d], fp32 on the CPU, without gradients. `rule_input` and `options`
// are those of Attention; there must be no dropout.
AttentionMatrix AttentionRows(const at::Tensor& q, const at::Tensor& k, const at::Tensor& rule_input,
                              const AttentionOptions& options, const MatrixPart& part = {});

}  // namespace tra

#endif  // TRA_OPS_ATTENTION_ROWS_H_
