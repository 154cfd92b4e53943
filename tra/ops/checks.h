#ifndef TRA_OPS_CHECKS_H_
#define TRA_OPS_CHECKS_H_

#include <ATen/core/Tensor.h>

#include <string>

#include "tra/kernels/attention.h"

namespace tra {

// Refuses shapes, dtypes, devices and options that do not fit, and shows them in the message.
void CheckAttention(const char* name, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const at::Tensor& rule_input, const AttentionOptions& options, const at::Tensor& cu_seqlens = {});

// Refuses offsets of a flat batch of this many tokens unless they are int32 [sequences + 1] on the CPU and ascend from
// 0 to the number of tokens.
void CheckOffsets(const char* name, const at::Tensor& cu_seqlens, int64_t tokens);

// Returns whether the rule takes an input besides q, k and v.
bool TakesInput(ScoreRule rule);

// Returns whether the rule's input has a row per token, and not a table that all sequences share.
bool InputIsByToken(ScoreRule rule);

AttentionShape ShapeOf(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& rule_input,
                       ScoreRule rule);

DropoutOn ParseDropoutOn(const std::string& name);

}  // namespace tra

#endif  // TRA_OPS_CHECKS_H_
