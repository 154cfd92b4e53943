// The attention of one layer: projections around a mixer, which is all that differs between the variants.
#ifndef TRA_MODEL_ATTENTION_LAYER_H_
#define TRA_MODEL_ATTENTION_LAYER_H_

#include <ATen/core/Generator.h>
#include <torch/nn/modules/linear.h>

#include <functional>

#include "tra/model/cache.h"
#include "tra/model/config.h"
#include "tra/ops/attention.h"

namespace tra {

// One call of a layer. q, k, v [B,T,E] are the projections of x [B,T,E].
struct AttentionCall {
  at::Tensor x, q, k, v;
  int64_t first_position = 0;   // of x; others came before it where there is a cache
  uint64_t seed = 0;            // of this layer's dropout
  LayerCache* cache = nullptr;  // null in training
};

class AttentionLayer : public torch::nn::Module {
 public:
  // Joins values by attention: [B,H,T,d], for any split of E into H heads.
  using Mixer = std::function<at::Tensor(const AttentionCall&)>;

  AttentionLayer(const ModelConfig& config, int64_t layer, at::Generator& random);

  // x [B,T,E], normed -> [B,T,E].
  at::Tensor Forward(const at::Tensor& x, int64_t first_position, uint64_t seed, LayerCache* cache);

  // For mixers:

  // [B,T,E] as [B,heads,T,E / heads], a view.
  static at::Tensor Heads(const at::Tensor& x, int64_t heads);
  at::Tensor Heads(const at::Tensor& x) const { return Heads(x, config.heads); }

  // Attention on the tiled kernels, after the cache where there is one. `own` is the rule's input (see ScoreRule); one
  // that belongs to keys (kForget) is cached with them. Several calls of one layer need different sites.
  at::Tensor Attend(const AttentionCall& call, ScoreRule rule, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v, const at::Tensor& own = {}, size_t site = 0) const;

  const ModelConfig config;
  const int64_t layer;

 private:
  torch::nn::Linear query_, key_, value_, out_;
  Mixer mixer_;
};

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_LAYER_H_
