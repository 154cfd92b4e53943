#include "tra/model/attention/variants.h"

#include <ATen/ATen.h>

#include "tra/base/names.h"
#include "tra/model/attention/cope.h"
#include "tra/model/attention/diff.h"
#include "tra/model/init.h"
#include "tra/ops/rope.h"

namespace tra {
namespace {

// Makes a mixer of one attention, whose rule's input make_input computes from the call.
template <typename MakeInput>
Mixer MakeRuled(ScoreRule rule, int64_t heads, const MakeInput& make_input) {
  return {[rule, heads, make_input](const AttentionCall& call) -> std::vector<AttentionInputs> {
    return {{rule, SplitHeads(call.q, heads), SplitHeads(call.k, heads), SplitHeads(call.v, heads), make_input(call)}};
  }};
}

// Makes plain causal softmax attention.
Mixer MakePlain(AttentionLayer& layer, Init& /*init*/) {
  return MakeRuled(ScoreRule::kSoftmax, layer.config.heads, [](const AttentionCall&) { return at::Tensor(); });
}

// Makes attention that rotates queries and keys by angles that grow with their position.
Mixer MakeRope(AttentionLayer& layer, Init& /*init*/) {
  return {[heads = layer.config.heads,
           theta = layer.config.rope_theta](const AttentionCall& call) -> std::vector<AttentionInputs> {
    const auto turned = [&](const at::Tensor& x) { return Rope(SplitHeads(x, heads), call.positions, theta); };
    return {{ScoreRule::kSoftmax, turned(call.q), turned(call.k), SplitHeads(call.v, heads), {}}};
  }};
}

std::string RopeObjection(const ModelConfig& config) {
  if (config.HeadWidth() % 2 == 0) return "";
  return "rope turns pairs of channels, so heads must have an even width; got " + std::to_string(config.HeadWidth());
}

// Makes attention with a learned bias per distance; all distances beyond those of training share the last one.
Mixer MakeRel(AttentionLayer& layer, Init& init) {
  const at::Tensor bias = layer.register_parameter(
      "bias", init.Constant({layer.config.heads, layer.config.train_length}, 0));  // [H,distance]
  return MakeRuled(ScoreRule::kDistance, layer.config.heads,
                   [bias](const AttentionCall&) -> const at::Tensor& { return bias; });
}

// Returns the logarithm of a gate per head and position, [B,H,T], from the projection that the variant added.
at::Tensor LogGate(const AttentionCall& call) { return at::log_sigmoid(call.extra[0]).transpose(1, 2); }

// Makes attention that forgets: the gate of each position multiplies the weights of all keys before it.
Mixer MakeFot(AttentionLayer& layer, Init& init) {
  const std::shared_ptr<Linear> gate = layer.AddProjection("gate", layer.config.heads, init);
  Overwrite(gate->weight, init.Normal(gate->weight.sizes(), 0.02));
  Overwrite(gate->bias, init.Constant(gate->bias.sizes(), 0));
  return MakeRuled(ScoreRule::kForget, layer.config.heads, &LogGate);
}

// Makes Threshold Relative Attention.
Mixer MakeTra(AttentionLayer& layer, Init& init) {
  layer.AddProjection("gate", layer.config.heads, init);
  return MakeRuled(ScoreRule::kThreshold, layer.config.heads, &LogGate);
}

}  // namespace

const std::vector<Variant>& Variants() {
  static const std::vector<Variant> kVariants = {
      {"nope", "plain softmax attention, no positions", &MakePlain},
      {"ape", "a learned embedding per position, added to the tokens", &MakePlain, Positions::kIndex},
      {"rel", "a learned bias per head and distance", &MakeRel},
      {"rope", "rotary positions: queries and keys turn with their position", &MakeRope, Positions::kNone, false,
       DropoutOn::kWeights, &RopeObjection},
      {"label", "a learned embedding per random, increasing label", &MakePlain, Positions::kLabel},
      {"fot", "forgetting: gates of the tokens in between decay a key", &MakeFot},
      {"diff", "the difference of two attentions, on rotary positions", &MakeDiff, Positions::kNone, false,
       DropoutOn::kWeights, &DiffObjection},
      {"cope", "contextual positions: gates count the keys that matter", &MakeCope},
      {"tra", "threshold relative attention", &MakeTra, Positions::kNone, true, DropoutOn::kLogits},
  };
  return kVariants;
}

const Variant& FindVariant(std::string_view name) { return FindNamed("attention", name, Variants()); }

}  // namespace tra
