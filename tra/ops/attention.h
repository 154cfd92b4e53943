// Computes attention on tensors, with autograd. The same functions are available as torch.ops.tra.* (library.cc).
//
// fp32 on the CPU runs on the tiled kernels; any other dtype or device runs the same maths composed of tensor
// operations, which is also reachable by name for comparison. All shapes are [batch, head, position, channel], any
// strides; the queries are the last positions of the keys.
//
// A flat batch has one entry, [1, head, token, channel], in which sequences of any lengths lie one after the other;
// none sees another. `cu_seqlens`, int32 [sequences + 1] on the CPU, says where each starts, and last where all end.
#ifndef TRA_OPS_ATTENTION_H_
#define TRA_OPS_ATTENTION_H_

#include <ATen/core/Tensor.h>

#include "tra/kernels/attention.h"
#include "tra/ops/draws.h"

namespace tra {

// Returns the attention of q [B,H,Tq,d] to k [B,H,Tk,d] and v [B,H,Tk,dv], [B,H,Tq,dv]. `rule_input` is the rule's
// input (see ScoreRule), for TRA the log of the gate [B,H,Tq], at most 0; undefined for kSoftmax. `sequence_ids` are
// the ids of the batch's sequences, for dropout (draws.h). `cu_seqlens` is undefined unless the batch is flat.
at::Tensor Attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                     const AttentionOptions& options, const at::Tensor& sequence_ids = {},
                     const at::Tensor& cu_seqlens = {});

// Returns Attention of a flat batch whose tensors are [token, head, channel], rule inputs [token, head] or
// [token, head, channel] except for kDistance's [head, distance].
at::Tensor AttentionVarlen(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                           const at::Tensor& cu_seqlens, const AttentionOptions& options,
                           const at::Tensor& sequence_ids = {});

// Computes the same by tensor operations that hold all of [Tq, Tk]; ignores options.stop_eps.
at::Tensor AttentionComposed(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& rule_input, const AttentionOptions& options,
                             const at::Tensor& sequence_ids = {}, const at::Tensor& cu_seqlens = {});

// Computes a few queries against a cache of keys and values, without gradient.
at::Tensor AttentionDecodeStep(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& rule_input, const AttentionOptions& options);

// Returns which pairs attention's dropout drops: bool [batch, heads, queries, keys].
at::Tensor DropoutMask(int64_t batch, int64_t heads, int64_t queries, int64_t keys, double p, const Draws& draws);

}  // namespace tra

#endif  // TRA_OPS_ATTENTION_H_
