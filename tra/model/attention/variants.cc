#include "tra/model/attention/variants.h"

#include <ATen/ATen.h>

#include "tra/base/names.h"
#include "tra/model/attention/cope.h"
#include "tra/model/attention/diff.h"
#include "tra/model/init.h"
#include "tra/ops/rope.h"

namespace tra {
namespace {

using Mixer = AttentionLayer::Mixer;

// Plain causal softmax attention.
Mixer MakePlain(AttentionLayer& layer, Init& /*init*/) {
  return [&layer](const AttentionCall& call) {
    return layer.Attend(call, ScoreRule::kSoftmax, layer.Heads(call.q), layer.Heads(call.k), layer.Heads(call.v));
  };
}

// Queries and keys turned by an angle that grows with their position.
Mixer MakeRope(AttentionLayer& layer, Init& /*init*/) {
  return [&layer](const AttentionCall& call) {
    const auto turned = [&](const at::Tensor& x) {
      return Rope(layer.Heads(x), call.first_position, layer.config.rope_theta);
    };
    return layer.Attend(call, ScoreRule::kSoftmax, turned(call.q), turned(call.k), layer.Heads(call.v));
  };
}

// A learned bias by distance, one for all distances beyond those of training.
Mixer MakeRel(AttentionLayer& layer, Init& init) {
  const at::Tensor bias = layer.register_parameter(
      "bias", init.Constant({layer.config.heads, layer.config.train_length}, 0));  // [H,distance]
  return [&layer, bias](const AttentionCall& call) {
    return layer.Attend(call, ScoreRule::kDistance, layer.Heads(call.q), layer.Heads(call.k), layer.Heads(call.v),
                        bias);
  };
}

// Forgetting: every position multiplies the weights of all before it by a gate of its own.
Mixer MakeFot(AttentionLayer& layer, Init& init) {
  const std::shared_ptr<Linear> gate = layer.AddProjection("gate", layer.config.heads, init);
  Overwrite(gate->weight, init.Normal(gate->weight.sizes(), 0.02));
  Overwrite(gate->bias, init.Constant(gate->bias.sizes(), 0));
  return [&layer](const AttentionCall& call) {
    const at::Tensor log_forget = at::log_sigmoid(call.extra[0]).transpose(1, 2);  // [B,H,T]
    return layer.Attend(call, ScoreRule::kForget, layer.Heads(call.q), layer.Heads(call.k), layer.Heads(call.v),
                        log_forget);
  };
}

// Threshold Relative Attention.
Mixer MakeTra(AttentionLayer& layer, Init& init) {
  layer.AddProjection("gate", layer.config.heads, init);
  return [&layer](const AttentionCall& call) {
    const at::Tensor log_gate = at::log_sigmoid(call.extra[0]).transpose(1, 2);  // [B,H,T]
    return layer.Attend(call, ScoreRule::kThreshold, layer.Heads(call.q), layer.Heads(call.k), layer.Heads(call.v),
                        log_gate);
  };
}

}  // namespace

const std::vector<Variant>& Variants() {
  static const std::vector<Variant> kVariants = {
      {"nope", "plain softmax attention, no positions", &MakePlain},
      {"ape", "a learned embedding per position, added to the tokens", &MakePlain, Positions::kIndex},
      {"rel", "a learned bias per head and distance", &MakeRel},
      {"rope", "rotary positions: queries and keys turn with their position", &MakeRope},
      {"label", "a learned embedding per random, increasing label", &MakePlain, Positions::kLabel},
      {"fot", "forgetting: gates of the tokens in between decay a key", &MakeFot},
      {"diff", "the difference of two attentions, on rotary positions", &MakeDiff},
      {"cope", "contextual positions: gates count the keys that matter", &MakeCope},
      {"tra", "threshold relative attention", &MakeTra, Positions::kNone, true, DropoutOn::kLogits},
  };
  return kVariants;
}

const Variant& FindVariant(std::string_view name) { return FindNamed("attention", name, Variants()); }

}  // namespace tra
