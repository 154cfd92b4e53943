#include "tra/model/generate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "tra/base/philox.h"
#include "tra/model/evaluation_mode.h"
#include "tra/ops/product.h"

namespace tra {
namespace {

// Draws uniformly from [0, 1).
double Uniform(uint64_t seed, uint64_t sequence, uint64_t position) {
  const auto words = DrawWords(
      seed, Stream::kSampling,
      {static_cast<uint32_t>(position), static_cast<uint32_t>(sequence), static_cast<uint32_t>(sequence >> 32)});
  return static_cast<double>((static_cast<uint64_t>(words[0]) << 21) ^ (words[1] >> 11)) * 0x1p-53;
}

}  // namespace

void CheckSampling(const Sampling& sampling) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument("generate: " + what);
  };
  require(sampling.temperature >= 0.0 && std::isfinite(sampling.temperature),
          "temperature must be at least 0, got " + std::to_string(sampling.temperature));
  require(sampling.top_k >= 0, "top_k must be at least 0 (all tokens), got " + std::to_string(sampling.top_k));
  require(sampling.top_p > 0.0 && sampling.top_p <= 1.0,
          "top_p must be in (0, 1], got " + std::to_string(sampling.top_p));
}

int64_t SampleToken(const float* logits, size_t vocabulary, const Sampling& sampling, uint64_t sequence,
                    uint64_t position) {
  if (vocabulary == 0) throw std::invalid_argument("generate: there are no logits");
  size_t best = 0;
  for (size_t i = 0; i < vocabulary; ++i) {
    if (std::isnan(logits[i]) || logits[i] == INFINITY) {
      throw std::runtime_error("generate: the logit of token " + std::to_string(i) + " at position " +
                               std::to_string(position) + " is " + std::to_string(logits[i]) +
                               "; the weights are damaged or training diverged");
    }
    if (logits[i] > logits[best]) best = i;
  }
  if (std::isinf(logits[best])) {
    throw std::runtime_error("generate: every logit at position " + std::to_string(position) +
                             " is -inf, so no token is possible");
  }
  if (sampling.temperature == 0.0 || sampling.top_k == 1) return static_cast<int64_t>(best);

  // Most likely first; among equals, the lower id first.
  std::vector<size_t> order(vocabulary);
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = sampling.top_k > 0 ? std::min(vocabulary, static_cast<size_t>(sampling.top_k)) : vocabulary;
  const auto likelier = [&](size_t a, size_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(), likelier);
  std::vector<double> weight(count);
  double total = 0.0;
  for (size_t i = 0; i < count; ++i) {
    weight[i] = std::exp((static_cast<double>(logits[order[i]]) - logits[best]) / sampling.temperature);
    total += weight[i];
  }
  // The token that reaches top_p belongs to the set, so it is never empty.
  double mass = 0.0;
  size_t kept = 0;
  while (kept < count && mass < sampling.top_p * total) mass += weight[kept++];
  double left = Uniform(sampling.seed, sequence, position) * mass;
  for (size_t i = 0; i + 1 < kept; ++i) {
    if (left < weight[i]) return static_cast<int64_t>(order[i]);
    left -= weight[i];
  }
  return static_cast<int64_t>(order[kept - 1]);
}

at::Tensor Generate(Decoder& model, const at::Tensor& prompt, const GenerateOptions& options) {
  TORCH_CHECK_VALUE(prompt.dim() == 2 && prompt.size(1) >= 1 && prompt.scalar_type() == at::kLong,
                    "generate: the prompt must be int64 [batch, position] with at least one position, got ",
                    prompt.scalar_type(), " ", prompt.sizes());
  TORCH_CHECK_VALUE(options.new_tokens >= 0, "generate: new_tokens must be at least 0, got ", options.new_tokens);
  CheckSampling(options.sampling);
  const c10::NoGradGuard no_grad;
  const EvaluationMode evaluation(model);
  const int64_t batch = prompt.size(0), length = prompt.size(1);
  at::Tensor tokens = at::empty({batch, length + options.new_tokens}, at::kLong);
  tokens.narrow(1, 0, length).copy_(prompt);
  Cache cache = model.NewCache(length + options.new_tokens);
  std::vector<bool> ended(static_cast<size_t>(batch), false);
  const Draws draws(options.sampling.seed, at::arange(options.first_sequence, options.first_sequence + batch));
  at::Tensor next = prompt;  // on the CPU once a token has been drawn
  for (int64_t at = length; at < length + options.new_tokens; ++at) {
    Pass pass;
    pass.draws = draws;
    pass.cache = &cache;
    const at::Tensor hidden = model.Hidden(next.to(model.Device()), pass).select(1, next.size(1) - 1);  // [B,E]
    const at::Tensor logits = ApplyLinear(hidden, model.Head()).to(at::kCPU, at::kFloat).contiguous();  // [B,V]
    next = at::empty({batch, 1}, at::kLong);
    bool all_ended = true;
    for (int64_t row = 0; row < batch; ++row) {
      const auto at_row = static_cast<size_t>(row);
      const auto sequence = static_cast<uint64_t>(options.first_sequence + row);
      int64_t& token = next.data_ptr<int64_t>()[row];
      token = ended[at_row]
                  ? *options.stop_token
                  : SampleToken(logits.data_ptr<float>() + row * logits.size(1), static_cast<size_t>(logits.size(1)),
                                options.sampling, sequence, static_cast<uint64_t>(at));
      if (options.stop_token && token == *options.stop_token) ended[at_row] = true;
      all_ended = all_ended && ended[at_row];
    }
    tokens.select(1, at).copy_(next.squeeze(1));
    if ((options.on_step && !options.on_step(next.squeeze(1))) || all_ended) return tokens.narrow(1, 0, at + 1);
  }
  return tokens;
}

}  // namespace tra
