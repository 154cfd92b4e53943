// The decoder all variants share: token embedding, blocks of (RMSNorm, attention, RMSNorm, SwiGLU), RMSNorm, head.
#ifndef TRA_MODEL_DECODER_H_
#define TRA_MODEL_DECODER_H_

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "tra/model/attention/layer.h"
#include "tra/model/config.h"
#include "tra/ops/cross_entropy.h"

namespace tra {

// What one call of a model draws its randomness from, and what it continues.
struct Pass {
  // Of dropout (in training) and of labels (always, where the variant has them), together with the ids of the
  // batch's sequences: what is drawn for a sequence does not depend on how sequences are batched or shared out.
  Draws draws;
  at::Tensor lengths = {};  // int64 [B] without the padding on the right, over which labels spread; undefined: all of T
  Cache* cache = nullptr;   // what came before; no gradients then
};

class Decoder : public torch::nn::Module {
 public:
  // Weights are drawn from the seed, the same on every device. Throws std::invalid_argument for a configuration that
  // makes no model.
  Decoder(const ModelConfig& config, uint64_t seed, at::Device device = at::kCPU);

  // tokens int64 [B,T] -> [B,T,E], ready for the head.
  at::Tensor Hidden(const at::Tensor& tokens, const Pass& pass = {});
  // tokens int64 [B,T] -> [B,T,V].
  at::Tensor Logits(const at::Tensor& tokens, const Pass& pass = {});
  // Summed over the positions whose target (int64 [B,T]) is not negative; logits of the others are never computed.
  CrossEntropySum Loss(const at::Tensor& tokens, const at::Tensor& targets, const Pass& pass = {});

  // For inference: needs eval() and no gradients.
  Cache NewCache(int64_t capacity) const { return Cache(config.layers, capacity); }
  const at::Tensor& Head() const { return head_; }  // [V,E]
  at::Device Device() const { return head_.device(); }
  int64_t ParameterCount() const;

  const ModelConfig config;

 private:
  class Layer;

  at::Tensor Embed(const at::Tensor& tokens, const Pass& pass);

  at::Tensor embedding_;  // [V,E]
  at::Tensor positions_;  // [max_length,E], or undefined
  std::vector<std::shared_ptr<Layer>> layers_;
  at::Tensor norm_;  // [E]
  at::Tensor head_;  // [V,E]
};

}  // namespace tra

#endif  // TRA_MODEL_DECODER_H_
