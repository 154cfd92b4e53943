// Implements the attention of one layer: projections around a mixer, the only part that differs between the variants.
#ifndef TRA_MODEL_ATTENTION_LAYER_H_
#define TRA_MODEL_ATTENTION_LAYER_H_

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tra/model/attention/record.h"
#include "tra/model/cache.h"
#include "tra/model/config.h"
#include "tra/model/linear.h"
#include "tra/ops/attention.h"
#include "tra/ops/draws.h"
#include "tra/ops/rope.h"

namespace tra {

// Holds the inputs of one call of a layer.
struct AttentionCall {
  at::Tensor q, k, v;             // [B,T,E], projections of the layer's input
  std::vector<at::Tensor> extra;  // [B,T,n], the projections that the variant added
  RowPositions positions;         // where the input's rows are; what comes before them is in the cache
  Draws draws;                    // for this layer's dropout; says which sequences a flat batch is made of
  LayerCache* cache = nullptr;    // null in training
  std::vector<RecordedAttention>* record = nullptr;  // gets the layer's attentions, unless it is null
};

// Says what a variant does in a call: it prepares one or several attentions, and joins their outputs.
struct Mixer {
  std::function<std::vector<AttentionInputs>(const AttentionCall&)> prepare;
  // Takes one output [B,H,T,d] per prepared attention. Not needed if there is only one.
  std::function<at::Tensor(const std::vector<at::Tensor>& outputs)> join = nullptr;
};

// Returns [B,T,E] as [B,heads,T,E / heads], a view.
at::Tensor SplitHeads(const at::Tensor& x, int64_t heads);

class AttentionLayer : public torch::nn::Module {
 public:
  AttentionLayer(const ModelConfig& config, int64_t layer, Init& init);

  // x [B,T,E], normed -> [B,T,E].
  at::Tensor Forward(const at::Tensor& x, const RowPositions& positions, const Draws& draws, LayerCache* cache,
                     std::vector<RecordedAttention>* record);

  // Lets a variant add a Linear of the layer's input, which is computed together with q, k and v. The outputs are in
  // AttentionCall::extra, in the order in which they were added.
  std::shared_ptr<Linear> AddProjection(const std::string& name, int64_t out, Init& init);

  const ModelConfig config;
  const int64_t layer;

 private:
  // Computes one attention; with a cache, also over the positions in it. `site` is the number of this attention among
  // those of the layer.
  at::Tensor Attend(const AttentionCall& call, const AttentionInputs& inputs, size_t site) const;

  std::vector<std::shared_ptr<Linear>> projections_;  // query, key, value, then those of the variant
  std::shared_ptr<Linear> out_;
  Mixer mixer_;
};

// Says whether attention of this configuration normalises queries and keys. The layer takes care of that; only a
// variant that computes the input of its rule from the queries must normalise them itself.
bool UsesQkNorm(const ModelConfig& config);

}  // namespace tra

#endif  // TRA_MODEL_ATTENTION_LAYER_H_
