// The attention of one layer: projections around a mixer, which is all that differs between the variants.
#ifndef TRA_MODEL_ATTENTION_LAYER_H_
#define TRA_MODEL_ATTENTION_LAYER_H_

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tra/model/cache.h"
#include "tra/model/config.h"
#include "tra/model/linear.h"
#include "tra/ops/attention.h"
#include "tra/ops/draws.h"

namespace tra {

// One call of a layer.
struct AttentionCall {
  at::Tensor q, k, v;             // [B,T,E], projections of its input
  std::vector<at::Tensor> extra;  // [B,T,n], those the variant asked for
  int64_t first_position = 0;     // of x; others came before it where there is a cache
  Draws draws;                    // of this layer's dropout
  LayerCache* cache = nullptr;    // null in training
};

class AttentionLayer : public torch::nn::Module {
 public:
  // Joins values by attention: [B,H,T,d], for any split of E into H heads.
  using Mixer = std::function<at::Tensor(const AttentionCall&)>;

  AttentionLayer(const ModelConfig& config, int64_t layer, Init& init);
  // Mixers hold on to their layer.
  AttentionLayer(const AttentionLayer&) = delete;
  AttentionLayer& operator=(const AttentionLayer&) = delete;
  ~AttentionLayer() override = default;

  // x [B,T,E], normed -> [B,T,E].
  at::Tensor Forward(const at::Tensor& x, int64_t first_position, const Draws& draws, LayerCache* cache);

  // For variants:

  // One more Linear of the layer's input, computed together with those of q, k and v: AttentionCall::extra.
  std::shared_ptr<Linear> AddProjection(const std::string& name, int64_t out, Init& init);

  // Attend applies it; a rule's input that is made of q must come from normed ones.
  bool QkNorm() const;

  // [B,T,E] as [B,heads,T,E / heads], a view.
  static at::Tensor Heads(const at::Tensor& x, int64_t heads);
  at::Tensor Heads(const at::Tensor& x) const { return Heads(x, config.heads); }

  // Attention on the tiled kernels, after the cache where there is one. `rule_input` is the rule's input (see
  // ScoreRule); one that belongs to keys (kForget) is cached with them. Several calls of one layer need different
  // sites.
  at::Tensor Attend(const AttentionCall& call, ScoreRule rule, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v, const at::Tensor& rule_input = {}, size_t site = 0) const;

  const ModelConfig config;
  const int64_t layer;

 private:
  std::vector<std::shared_ptr<Linear>> projections_;  // query, key, value, then those of the variant
  std::shared_ptr<Linear> out_;
  Mixer mixer_;
};

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_LAYER_H_
