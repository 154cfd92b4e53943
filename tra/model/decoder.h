// Implements the decoder that all variants share: token embedding, blocks of (RMSNorm, attention, RMSNorm, SwiGLU),
// RMSNorm, head.
#ifndef TRA_MODEL_DECODER_H_
#define TRA_MODEL_DECODER_H_

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "tra/model/attention/layer.h"
#include "tra/model/config.h"
#include "tra/ops/cross_entropy.h"

namespace tra {

// Says what one call of a model draws its randomness from, and what it continues.
struct Pass {
  // For dropout (in training) and for labels (always, if the variant has them). They include the ids of the batch's
  // sequences, so that what is drawn for a sequence does not depend on how sequences are batched or distributed; and,
  // if tokens are a flat batch, [1, tokens], where in it the sequences start.
  Draws draws;
  Cache* cache = nullptr;             // the positions before; works only without gradients
  AttentionRecord* record = nullptr;  // gets what every layer attends with; needs eval(), no cache, no flat batch
};

class Decoder : public torch::nn::Module {
 public:
  // Draws the weights from the seed, the same on every device. Throws std::invalid_argument for a configuration that is
  // not valid.
  Decoder(const ModelConfig& config, uint64_t seed, at::Device device = at::kCPU);

  // tokens int64 [B,T] -> [B,T,E], ready for the head. B sequences of T tokens, or, with pass.draws.cu_seqlens, one
  // entry in which sequences of any lengths lie one after the other.
  at::Tensor Hidden(const at::Tensor& tokens, const Pass& pass = {});
  // tokens int64 [B,T] -> [B,T,V].
  at::Tensor Logits(const at::Tensor& tokens, const Pass& pass = {});
  // Returns the loss summed over the positions whose target (int64 [B,T]) is not negative; the logits of the others are
  // never computed.
  CrossEntropySum Loss(const at::Tensor& tokens, const at::Tensor& targets, const Pass& pass = {});

  // Makes a cache for inference, which needs eval() and no gradients.
  Cache NewCache(int64_t capacity) const { return Cache(config.layers, capacity); }
  const at::Tensor& Head() const { return head_; }  // [V,E]
  at::Device Device() const { return head_.device(); }
  int64_t ParameterCount() const;

  const ModelConfig config;

 private:
  class Layer;

  at::Tensor Embed(const at::Tensor& tokens, const RowPositions& positions, const Pass& pass);

  at::Tensor embedding_;  // [V,E]
  at::Tensor positions_;  // [max_length,E], or undefined
  std::vector<std::shared_ptr<Layer>> layers_;
  at::Tensor norm_;  // [E]
  at::Tensor head_;  // [V,E]
};

}  // namespace tra

#endif  // TRA_MODEL_DECODER_H_
