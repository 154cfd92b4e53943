// Records what the attentions of a pass were computed from, so that any part of their matrices can be shown afterwards.
// Holding the inputs costs as much memory as a cache; the matrices are computed when asked for, a part at a time.
#ifndef TRA_MODEL_ATTENTION_RECORD_H_
#define TRA_MODEL_ATTENTION_RECORD_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "tra/ops/attention_rows.h"

namespace tra {

// Holds the inputs of one of the attentions that a mixer prepares.
struct AttentionInputs {
  ScoreRule rule;
  at::Tensor q, k, v;     // [B,H,T,d], for any split of E into heads
  at::Tensor rule_input;  // see ScoreRule; none for kSoftmax
};

struct RecordedAttention {
  AttentionInputs inputs;
  AttentionOptions options;

  int64_t Heads() const { return inputs.q.size(1); }
  // Shows a part of the matrix of one head of one sequence; all tensors begin with [1,1]. Throws for a sequence or a
  // head that is not there.
  AttentionMatrix Rows(int64_t sequence, int64_t head, const MatrixPart& part = {}) const;
};

struct AttentionRecord {
  std::vector<std::vector<RecordedAttention>> layers;  // by layer, the attentions of its mixer (one, or diff's two)
};

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_RECORD_H_
