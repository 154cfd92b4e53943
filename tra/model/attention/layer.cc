#include "tra/model/attention/layer.h"

#include <ATen/ATen.h>

#include "tra/kernels/attention/rules.h"
#include "tra/model/attention/variants.h"
#include "tra/ops/project.h"

namespace tra {

AttentionLayer::AttentionLayer(const ModelConfig& config, int64_t layer, Init& init)
    : config(config),
      layer(layer),
      projections_({register_module("query", std::make_shared<Linear>(config.width, config.width, false, init)),
                    register_module("key", std::make_shared<Linear>(config.width, config.width, false, init)),
                    register_module("value", std::make_shared<Linear>(config.width, config.width, false, init))}),
      out_(register_module("out", std::make_shared<Linear>(config.width, config.width, true, init))),
      mixer_(FindVariant(config.attention).make(*this, init)) {}

std::shared_ptr<Linear> AttentionLayer::AddProjection(const std::string& name, int64_t out, Init& init) {
  projections_.push_back(register_module(name, std::make_shared<Linear>(config.width, out, true, init)));
  return projections_.back();
}

bool UsesQkNorm(const ModelConfig& config) { return config.qk_norm.value_or(FindVariant(config.attention).qk_norm); }

at::Tensor SplitHeads(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor AttentionLayer::Forward(const at::Tensor& x, const RowPositions& positions, const Draws& draws,
                                   LayerCache* cache, std::vector<RecordedAttention>* record) {
  std::vector<at::Tensor> weights, biases;
  for (const std::shared_ptr<Linear>& each : projections_) {
    weights.push_back(each->weight);
    biases.push_back(each->bias);
  }
  const std::vector<at::Tensor> y = Project(x, weights, biases);
  const AttentionCall call = {y[0], y[1], y[2], {y.begin() + 3, y.end()}, positions, draws, cache, record};
  std::vector<at::Tensor> outputs;
  for (const AttentionInputs& inputs : mixer_.prepare(call)) outputs.push_back(Attend(call, inputs, outputs.size()));
  const at::Tensor joined = mixer_.join ? mixer_.join(outputs) : outputs.at(0);
  // The kernels lay out their output like their input, so the heads are side by side again without a copy.
  return (*out_)(joined.transpose(1, 2).reshape(x.sizes()));
}

at::Tensor AttentionLayer::Attend(const AttentionCall& call, const AttentionInputs& inputs, size_t site) const {
  AttentionOptions options;
  options.rule = inputs.rule;
  options.qk_norm = UsesQkNorm(config);
  options.stop_eps = static_cast<float>(config.stop_eps);
  if (call.cache != nullptr) {
    const at::Tensor k = call.cache->Append(3 * site, inputs.k), v = call.cache->Append(3 * site + 1, inputs.v);
    // An input that belongs to the keys is cached with them.
    const bool of_keys = InfoOf(inputs.rule).rows == InputRows::kKeys;
    const at::Tensor rule_input =
        of_keys ? call.cache->Append(3 * site + 2, inputs.rule_input.unsqueeze(-1)).squeeze(-1) : inputs.rule_input;
    return AttentionDecodeStep(inputs.q, k, v, rule_input, options);
  }
  if (is_training() && config.attention_dropout > 0.0) {
    options.dropout_on = config.dropout_on.value_or(FindVariant(config.attention).dropout_on);
    options.dropout_p = static_cast<float>(config.attention_dropout);
    options.seed = call.draws.Of(site).seed;
  }
  if (call.record != nullptr) call.record->push_back({inputs, options});
  return Attention(inputs.q, inputs.k, inputs.v, inputs.rule_input, options, call.draws.sequence_ids,
                   call.draws.cu_seqlens);
}

}  // namespace tra
