#include "tra/model/decoder.h"

#include <ATen/ATen.h>

#include "tra/model/attention/variants.h"
#include "tra/model/init.h"
#include "tra/model/labels.h"
#include "tra/ops/dropout.h"
#include "tra/ops/rms_norm.h"
#include "tra/ops/swiglu.h"

namespace tra {
namespace {

// Numbers the parts of a model that draw at random, for Draws::Of; the layers come after these.
enum Site : uint64_t { kEmbeddingSite, kLabelSite, kFirstLayerSite };

const ModelConfig& Checked(const ModelConfig& config) {
  CheckConfig(config);
  return config;
}

void CheckLengths(const Pass& pass, const at::Tensor& tokens) {
  const at::Tensor& lengths = pass.lengths;
  if (!lengths.defined()) return;
  TORCH_CHECK_VALUE(lengths.scalar_type() == at::kLong && lengths.device().is_cpu() && lengths.dim() == 1 &&
                        lengths.size(0) == tokens.size(0),
                    "model: lengths must be int64 [", tokens.size(0), "] on the CPU, got ", lengths.scalar_type(), " ",
                    lengths.sizes(), " on ", lengths.device());
  TORCH_CHECK_VALUE(pass.cache == nullptr, "model: with a cache there is no padding; pass no lengths");
}

// Computes Linear(E, 4E), SwiGLU, Linear(2E, E).
class Mlp : public torch::nn::Module {
 public:
  Mlp(const ModelConfig& config, Init& init)
      : dropout_(config.mlp_dropout),
        up_(register_module("up", std::make_shared<Linear>(config.width, 4 * config.width, true, init))),
        down_(register_module("down", std::make_shared<Linear>(2 * config.width, config.width, true, init))) {}

  at::Tensor Forward(const at::Tensor& x, const Draws& draws) {
    return (*down_)(SwiGlu((*up_)(x), is_training() ? dropout_ : 0.0, draws));
  }

 private:
  double dropout_;
  std::shared_ptr<Linear> up_, down_;
};

}  // namespace

class Decoder::Layer : public torch::nn::Module {
 public:
  Layer(const ModelConfig& config, int64_t layer, Init& init)
      : attention_norm(register_parameter("attention_norm", init.Constant({config.width}, 1))),
        attention(register_module("attention", std::make_shared<AttentionLayer>(config, layer, init))),
        mlp_norm(register_parameter("mlp_norm", init.Constant({config.width}, 1))),
        mlp(register_module("mlp", std::make_shared<Mlp>(config, init))) {}

  at::Tensor attention_norm;  // [E]
  std::shared_ptr<AttentionLayer> attention;
  at::Tensor mlp_norm;  // [E]
  std::shared_ptr<Mlp> mlp;
};

Decoder::Decoder(const ModelConfig& config_in, uint64_t seed, at::Device device) : config(Checked(config_in)) {
  Init init(seed, device);
  embedding_ = register_parameter("embedding", init.Uniform({config.vocabulary, config.width}, 0.01));
  if (FindVariant(config.attention).positions != Positions::kNone) {
    positions_ = register_parameter("positions", init.Uniform({config.max_length, config.width}, 0.01));
  }
  const auto layers = register_module("layers", std::make_shared<torch::nn::Module>("layers"));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    layers_.push_back(layers->register_module(std::to_string(layer), std::make_shared<Layer>(config, layer, init)));
  }
  norm_ = register_parameter("norm", init.Constant({config.width}, 1));
  head_ = register_parameter("head", init.Normal({config.vocabulary, config.width}, 0.02));
}

at::Tensor Decoder::Embed(const at::Tensor& tokens, const Pass& pass) {
  at::Tensor x = at::embedding(embedding_, tokens);
  const int64_t first = pass.cache == nullptr ? 0 : pass.cache->length, length = tokens.size(1);
  switch (FindVariant(config.attention).positions) {
    case Positions::kNone:
      break;
    case Positions::kIndex:
      TORCH_CHECK_VALUE(first + length <= config.max_length, "ape: position ", first + length - 1,
                        " has no embedding, there are ", config.max_length, "; train with a larger max_length");
      x = x + positions_.narrow(0, first, length);
      break;
    case Positions::kLabel: {
      const Draws draws = pass.draws.Of(kLabelSite);
      // The labels of a sequence are spread over its whole length, so with a cache they are drawn for its whole
      // capacity.
      if (pass.cache == nullptr) {
        const at::Tensor lengths =
            pass.lengths.defined() ? pass.lengths : at::full({tokens.size(0)}, length, at::kLong);
        x = x + at::embedding(positions_, DrawLabels(draws, lengths, length, config.max_length).to(x.device()));
        break;
      }
      at::Tensor& labels = pass.cache->labels;
      if (!labels.defined()) {
        const int64_t capacity = pass.cache->capacity;
        labels = DrawLabels(draws, at::full({tokens.size(0)}, capacity, at::kLong), capacity, config.max_length)
                     .to(x.device());
      }
      TORCH_CHECK_VALUE(first + length <= labels.size(1), "cache: it holds ", labels.size(1), " positions, ",
                        first + length, " needed; make it larger");
      x = x + at::embedding(positions_, labels.narrow(1, first, length));
      break;
    }
  }
  return is_training() ? Dropout(x, config.embedding_dropout, pass.draws.Of(kEmbeddingSite)) : x;
}

at::Tensor Decoder::Hidden(const at::Tensor& tokens, const Pass& pass_in) {
  TORCH_CHECK_VALUE(tokens.dim() == 2 && tokens.scalar_type() == at::kLong,
                    "model: tokens must be int64 [batch, position], got ", tokens.scalar_type(), " ", tokens.sizes());
  TORCH_CHECK_VALUE(tokens.device() == embedding_.device(), "model: its weights are on ", embedding_.device(),
                    ", the tokens on ", tokens.device(), "; move them with .to(model.Device())");
  Pass pass = pass_in;
  if (!pass.draws.sequence_ids.defined()) pass.draws.sequence_ids = at::arange(tokens.size(0));
  CheckLengths(pass, tokens);
  TORCH_CHECK(pass.cache == nullptr || !c10::GradMode::is_enabled(),
              "model: a cache is for inference and keeps no gradients: use NoGradGuard");
  TORCH_CHECK(pass.cache == nullptr || !is_training(), "model: a cache is for inference, without dropout: call eval()");
  TORCH_CHECK_VALUE(pass.cache == nullptr || pass.cache->layers.size() == layers_.size(),
                    "model: the cache is of a model with another number of layers than ", layers_.size(),
                    "; use NewCache()");
  const int64_t first = pass.cache == nullptr ? 0 : pass.cache->length;
  const bool prenorm = config.block == Block::kPrenorm;
  at::Tensor residual = Embed(tokens, pass);                     // [B,T,E]
  at::Tensor x = RmsNorm(residual, layers_[0]->attention_norm);  // [B,T,E], what the next part reads
  if (!prenorm) residual = x;
  // Computes the sum and the norm that follows it in one pass over memory. In the notebook's wiring the stream goes on
  // with the norm.
  const auto add = [&](const at::Tensor& y, const at::Tensor& gain) {
    at::Tensor sum;
    std::tie(sum, x) = AddRmsNorm(residual, y, gain);
    residual = prenorm ? sum : x;
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = *layers_[i];
    const Draws draws = pass.draws.Of(kFirstLayerSite + i);
    LayerCache* cache = pass.cache == nullptr ? nullptr : &pass.cache->layers[i];
    add(layer.attention->Forward(x, first, draws.Of(0), cache), layer.mlp_norm);
    add(layer.mlp->Forward(x, draws.Of(1)), i + 1 < layers_.size() ? layers_[i + 1]->attention_norm : norm_);
  }
  if (pass.cache != nullptr) pass.cache->length += tokens.size(1);
  return x;
}

at::Tensor Decoder::Logits(const at::Tensor& tokens, const Pass& pass) {
  return at::linear(Hidden(tokens, pass), head_);
}

CrossEntropySum Decoder::Loss(const at::Tensor& tokens, const at::Tensor& targets, const Pass& pass) {
  return LinearCrossEntropy(Hidden(tokens, pass), head_, targets);
}

int64_t Decoder::ParameterCount() const {
  int64_t count = 0;
  for (const at::Tensor& each : parameters()) count += each.numel();
  return count;
}

}  // namespace tra
