// Generates tokens with a cache of keys and values.
#ifndef TRA_MODEL_GENERATE_H_
#define TRA_MODEL_GENERATE_H_

#include <functional>
#include <optional>
#include <vector>

#include "tra/model/decoder.h"

namespace tra {

struct Sampling {
  double temperature = 0.0;  // 0 is greedy: the first of the largest logits
  int64_t top_k = 0;         // draw among the k most likely; 0 is all
  double top_p = 1.0;        // draw among the most likely that together reach this probability
  uint64_t seed = 0;
};

// Throws std::invalid_argument that names what is out of range.
void CheckSampling(const Sampling& sampling);

// Returns a token for logits [V]: a pure function of the logits, the sampling, the number of the sequence and the
// position. Throws for logits that are not a distribution (NaN, +inf, all -inf).
int64_t SampleToken(const float* logits, size_t vocabulary, const Sampling& sampling, uint64_t sequence,
                    uint64_t position);

struct GenerateOptions {
  int64_t new_tokens = 100;
  Sampling sampling;
  int64_t first_sequence = 0;         // number of the prompt's first row, if the batch is part of a larger one
  std::optional<int64_t> stop_token;  // a sequence ends after it; what follows repeats it
  // Called after each step with the new tokens [B]; returns false to end.
  std::function<bool(const at::Tensor&)> on_step;
};

// Continues a prompt int64 [B,T], T >= 1, and returns [B,T + new]. Puts the model in evaluation mode during the call.
at::Tensor Generate(Decoder& model, const at::Tensor& prompt, const GenerateOptions& options);

}  // namespace tra

#endif  // TRA_MODEL_GENERATE_H_
