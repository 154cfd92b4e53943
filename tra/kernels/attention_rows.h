// Shows how attention arrives at its weights: for a rectangle of the matrix [query, key], every term of every logit.
//
// The fused kernels never hold this matrix. The functions here compute any part of it, by the same arithmetic: scores
// and hence the kept keys are those of AttentionForward to the last bit, and so is the place where its walk stops.
#ifndef TRA_KERNELS_ATTENTION_ROWS_H_
#define TRA_KERNELS_ATTENTION_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "tra/kernels/attention.h"

namespace tra {

// Says what became of a key.
enum class KeyState : uint8_t {
  kFuture,   // it comes after the query
  kDropped,  // its score did not pass the threshold
  kKept,
  kSkipped,  // it passes the threshold, but the walk had stopped before it: its weight is exactly 0
};

template <typename T>
struct AttentionRowsArgs {
  AttentionShape shape;  // of the whole problem; value_width and flat batches do not matter here
  Rows<const T> q, k, rule_input;
  size_t first_query = 0, queries = 0;  // the rows of the rectangle
  size_t first_key = 0, keys = 0;       // its columns

  // All [batch, head, queries, keys] without gaps; any may be null. Logits are in natural units. For keys of the future
  // the logit is -inf and everything else 0.
  uint8_t* state = nullptr;  // KeyState
  T* score = nullptr;        // s = q.k / sqrt(width), of dropped keys too
  T* position = nullptr;     // how far away the rule takes the key to be: the number of kept keys from it to the query
                             // (kThreshold), the contextual position (kContextual), else the number of tokens between
  T* term = nullptr;         // what the rule adds: count * log gate, sum of log f, bias, z at the contextual position
  T* logit = nullptr;        // s + term; -inf for keys that were dropped
  T* weight = nullptr;       // what v is multiplied with

  // Both [batch, head, queries] without gaps; may be null.
  int32_t* stopped_at = nullptr;  // the first key that the walk visited; 0: all of them
  T* unseen = nullptr;            // a proven bound on the weight of the keys before it, as a share of all; 0: none
};

// Computes the rectangle. There must be no dropout, and no flat batch. Throws std::invalid_argument for a rectangle
// that is not within the problem.
void AttentionRows(const AttentionRowsArgs<float>& args, const AttentionOptions& options, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_ROWS_H_
