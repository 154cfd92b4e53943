// Computes tiled attention without LibTorch: forward, backward and decode, in fp32.
//
// One family of kernels serves several score rules. attention_reference.h has the forward and the backward as plain
// loops in float64; docs/kernels.md explains the tiling, the early stop and its proof.
#ifndef TRA_KERNELS_ATTENTION_H_
#define TRA_KERNELS_ATTENTION_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tra/kernels/parallel.h"

namespace tra {

// Points to the rows of a [batch, head, row, channel] tensor, or of a flat batch's [head, row, channel] tensor (see
// AttentionShape). Strides count elements and may be anything (a transposed view, 0 for a broadcast input); channels
// are adjacent.
template <typename T>
struct Rows {
  T* data = nullptr;
  ptrdiff_t batch_stride = 0;
  ptrdiff_t head_stride = 0;
  ptrdiff_t row_stride = 0;
  const int32_t* offsets = nullptr;  // of a flat batch: the row at which each sequence starts; batch_stride is not used

  T* operator()(size_t batch, size_t head, size_t row) const {
    const ptrdiff_t start = offsets == nullptr ? static_cast<ptrdiff_t>(batch) * batch_stride
                                               : static_cast<ptrdiff_t>(offsets[batch]) * row_stride;
    return data + start + static_cast<ptrdiff_t>(head) * head_stride + static_cast<ptrdiff_t>(row) * row_stride;
  }
};

// Returns the rows of an array without gaps, [batch, head, row, channel].
template <typename T>
Rows<T> ContiguousRows(T* data, size_t heads, size_t rows, size_t width) {
  const auto row_stride = static_cast<ptrdiff_t>(width);
  const ptrdiff_t head_stride = static_cast<ptrdiff_t>(rows) * row_stride;
  return {data, static_cast<ptrdiff_t>(heads) * head_stride, head_stride, row_stride};
}

// Holds the sizes of a problem. The queries are the last `queries` of the `keys` positions, so that query i is at
// position keys - queries + i.
//
// The sequences of a flat batch may differ in length. They lie one after the other in one row of tokens, without
// padding, and every position is a query and a key; `queries` and `keys` are the length of the longest.
struct AttentionShape {
  size_t batch = 1;
  size_t heads = 1;
  size_t queries = 0;
  size_t keys = 0;
  size_t width = 0;        // channels of q and k
  size_t value_width = 0;  // channels of v and out
  size_t table = 0;        // length of the table of biases (kDistance) or of positions (kContextual)
  // [batch + 1], for a flat batch: sequence b is made of the tokens offsets[b] up to but without offsets[b + 1].
  const int32_t* offsets = nullptr;

  size_t Queries(size_t b) const { return offsets == nullptr ? queries : Length(b); }
  size_t Keys(size_t b) const { return offsets == nullptr ? keys : Length(b); }
  // Return the place of a row in an array without gaps, [batch, head, row].
  size_t QueryIndex(size_t b, size_t head, size_t row) const {
    return (offsets == nullptr ? b * queries : Start(b)) * heads + head * Queries(b) + row;
  }
  size_t KeyIndex(size_t b, size_t head, size_t row) const {
    return (offsets == nullptr ? b * keys : Start(b)) * heads + head * Keys(b) + row;
  }
  // Return the lengths of such arrays.
  size_t AllQueries() const { return (offsets == nullptr ? batch * queries : Start(batch)) * heads; }
  size_t AllKeys() const { return (offsets == nullptr ? batch * keys : Start(batch)) * heads; }

 private:
  size_t Start(size_t b) const { return static_cast<size_t>(offsets[b]); }
  size_t Length(size_t b) const { return Start(b + 1) - Start(b); }
};

constexpr size_t kMaxHeadWidth = 256;
constexpr size_t kMaxTable = 256;  // for kContextual

// Says what a rule adds to s = q.k / sqrt(width), for the query at position i and the key at position j, and from which
// input.
enum class ScoreRule : uint8_t {
  kSoftmax,     // nothing
  kThreshold,   // TRA: the query's log gate times the number of kept keys in j..i, where only keys with s > 0 are kept;
                // input: log gate, at most 0, [batch, head, query]
  kForget,      // FoT: the sum of log f over the positions j+1..i; input: log f, [batch, head, key]
  kDistance,    // REL: b[min(i - j, table - 1)]; input: b, [head, table]
  kContextual,  // CoPE: z_i at p, where p = min(sum of sigmoid(s) over the keys j..i, table - 1) and z_i is
                // interpolated linearly between integers; input: z, [batch, head, query, table]
};

enum class DropoutOn : uint8_t {
  kNone,
  kLogits,   // a dropped kept key gets logit 0, the other logits grow by 1 / (1 - p), as in the paper's listing
  kWeights,  // a dropped key gets weight 0 after the softmax, the other weights grow by 1 / (1 - p)
};

// Lists these modes with the names by which configurations and operators call them.
struct DropoutMode {
  const char* name;
  DropoutOn value;
  bool changes_logits;  // so that their bound under QK-norm, and that the nearest kept key has weight, no longer hold
};
constexpr DropoutMode kDropoutModes[] = {
    {"logits", DropoutOn::kLogits, true}, {"weights", DropoutOn::kWeights, false}, {"none", DropoutOn::kNone, false}};
constexpr bool ChangesLogits(DropoutOn on) {
  for (const DropoutMode& mode : kDropoutModes) {
    if (mode.value == on) return mode.changes_logits;
  }
  return true;
}

// The early stop changes the output by at most twice this times max|v|: below half a unit in the last place of fp32.
constexpr float kDefaultStopEps = 0x1p-26f;
constexpr float kStopNever = 0.0f;
// Stops only where every later weight is exactly 0 in fp32, so that the result is bit for bit that of kStopNever.
constexpr float kStopWhenExact = -1.0f;

struct AttentionOptions {
  ScoreRule rule = ScoreRule::kThreshold;
  bool qk_norm = true;  // RMS-normalise every q and k row, without gain
  float norm_eps = 1e-6f;
  DropoutOn dropout_on = DropoutOn::kNone;
  float dropout_p = 0.0f;  // takes effect in steps of 2^-16
  uint64_t seed = 0;       // seeds the dropout mask, a pure function of (seed, sequence id, head, query position, key)
  const int64_t* sequence_ids = nullptr;  // [batch], for dropout; null: 0, 1, 2, ...
  float stop_eps = kDefaultStopEps;
};

template <typename T>
struct ForwardArgs {
  AttentionShape shape;
  Rows<const T> q, k, v;
  Rows<const T> rule_input;  // see ScoreRule: one row per query, per key or (kDistance) per distance
  Rows<T> out;
  // For the backward, both [batch, head, query] without gaps; may be null when no gradient is wanted.
  T* log2_sum = nullptr;         // log2 of the sum of exp2(logit * log2 e); +inf where a row keeps nothing
  int32_t* first_key = nullptr;  // keys before it were proven negligible and not visited
};

template <typename T>
struct BackwardArgs {
  AttentionShape shape;
  Rows<const T> q, k, v, rule_input;
  Rows<const T> out, d_out;
  const T* log2_sum = nullptr;
  const int32_t* first_key = nullptr;
  Rows<T> d_q, d_k, d_v, d_rule_input;  // every element is overwritten
};

// Throws std::invalid_argument, with the remedy in the message, for problems that the kernels cannot compute, and for
// offsets that do not ascend from 0. The functions below call it.
void CheckProblem(const AttentionShape& shape, const AttentionOptions& options);

// Computes out = attention(q, k, v), bit-equal over repeats and for any number of workers.
void AttentionForward(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);

// Computes the gradients. Visits the keys that AttentionForward visited and recomputes the same scores to the last bit,
// hence the same mask.
void AttentionBackward(const BackwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);

// Computes what AttentionForward does, for few queries against a long cache. Memory is the bottleneck there, so each
// key is read once, values are read only for kept keys, and keys are split over the workers when there are fewer heads
// than workers. Has no dropout and takes no flat batch.
void AttentionDecode(const ForwardArgs<float>& args, const AttentionOptions& options, Parallel& parallel);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_H_
