#include "tra/model/decoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "tra/model/attention/variants.h"
#include "tra/model/init.h"
#include "tra/model/labels.h"
#include "tra/ops/checks.h"
#include "tra/ops/dropout.h"
#include "tra/ops/product.h"
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

// Returns the lengths of the sequences of a batch of tokens [B,T].
std::vector<int64_t> Lengths(const at::Tensor& tokens, const at::Tensor& cu_seqlens) {
  if (!cu_seqlens.defined()) return std::vector<int64_t>(static_cast<size_t>(tokens.size(0)), tokens.size(1));
  std::vector<int64_t> lengths;
  const int32_t* offsets = cu_seqlens.data_ptr<int32_t>();
  for (int64_t i = 1; i < cu_seqlens.size(0); ++i) lengths.push_back(offsets[i] - offsets[i - 1]);
  return lengths;
}

// Returns where the rows are: after what is in the cache, or, in a flat batch, from 0 on in every sequence.
RowPositions FindPositions(const at::Tensor& tokens, const Pass& pass) {
  const at::Tensor& cu_seqlens = pass.draws.cu_seqlens;
  if (!cu_seqlens.defined()) return pass.cache == nullptr ? 0 : pass.cache->length;
  TORCH_CHECK_VALUE(pass.cache == nullptr, "model: a cache has sequences of one length; pass no cu_seqlens");
  TORCH_CHECK_VALUE(tokens.size(0) == 1, "model: with cu_seqlens, tokens must be [1, tokens], got ", tokens.sizes());
  CheckOffsets("model", cu_seqlens, tokens.size(1));
  at::Tensor each = at::empty({tokens.size(1)}, at::kLong);
  auto* to = each.data_ptr<int64_t>();
  for (const int64_t length : Lengths(tokens, cu_seqlens)) {
    std::iota(to, to + length, 0);
    to += length;
  }
  return {0, each};
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

at::Tensor Decoder::Embed(const at::Tensor& tokens, const RowPositions& positions, const Pass& pass) {
  at::Tensor x = at::embedding(embedding_, tokens);
  const int64_t first = positions.first, length = tokens.size(1);
  switch (FindVariant(config.attention).positions) {
    case Positions::kNone:
      break;
    case Positions::kIndex: {
      const std::vector<int64_t> lengths = Lengths(tokens, pass.draws.cu_seqlens);
      const int64_t last = first + (lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end()));
      TORCH_CHECK_VALUE(last <= config.max_length, "ape: position ", last - 1, " has no embedding, there are ",
                        config.max_length, "; train with a larger max_length");
      x = x + (positions.each.defined() ? at::embedding(positions_, positions.each.to(x.device()))
                                        : positions_.narrow(0, first, length));
      break;
    }
    case Positions::kLabel: {
      const Draws draws = pass.draws.Of(kLabelSite);
      // The labels of a sequence are spread over its whole length, so with a cache they are drawn for its whole
      // capacity.
      if (pass.cache == nullptr) {
        const at::Tensor labels = DrawLabels(draws, Lengths(tokens, draws.cu_seqlens), config.max_length);
        x = x + at::embedding(positions_, labels.view(tokens.sizes()).to(x.device()));
        break;
      }
      at::Tensor& labels = pass.cache->labels;
      if (!labels.defined()) {
        const std::vector<int64_t> lengths(static_cast<size_t>(tokens.size(0)), pass.cache->capacity);
        labels = DrawLabels(draws, lengths, config.max_length).view({tokens.size(0), -1}).to(x.device());
      }
      TORCH_CHECK_VALUE(tokens.size(0) == labels.size(0), "cache: it was begun with a batch of ", labels.size(0),
                        " and is now given one of ", tokens.size(0), "; use one cache for one batch of one model");
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
  const RowPositions positions = FindPositions(tokens, pass);
  if (!pass.draws.sequence_ids.defined()) {
    const at::Tensor& cu_seqlens = pass.draws.cu_seqlens;
    pass.draws.sequence_ids = at::arange(cu_seqlens.defined() ? cu_seqlens.size(0) - 1 : tokens.size(0));
  }
  TORCH_CHECK(pass.cache == nullptr || !c10::GradMode::is_enabled(),
              "model: a cache is for inference and keeps no gradients: use NoGradGuard");
  TORCH_CHECK(pass.cache == nullptr || !is_training(), "model: a cache is for inference, without dropout: call eval()");
  TORCH_CHECK_VALUE(pass.cache == nullptr || pass.cache->layers.size() == layers_.size(),
                    "model: the cache is of a model with another number of layers than ", layers_.size(),
                    "; use NewCache()");
  TORCH_CHECK_VALUE(
      pass.record == nullptr || (!is_training() && pass.cache == nullptr && !pass.draws.cu_seqlens.defined()),
      "model: a record is of whole sequences without dropout: call eval(), pass no cache and no cu_seqlens");
  if (pass.record != nullptr) pass.record->layers.assign(layers_.size(), {});
  const bool prenorm = config.block == Block::kPrenorm;
  at::Tensor residual = Embed(tokens, positions, pass);          // [B,T,E]
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
    std::vector<RecordedAttention>* record = pass.record == nullptr ? nullptr : &pass.record->layers[i];
    add(layer.attention->Forward(x, positions, draws.Of(0), cache, record), layer.mlp_norm);
    add(layer.mlp->Forward(x, draws.Of(1)), i + 1 < layers_.size() ? layers_[i + 1]->attention_norm : norm_);
  }
  if (pass.cache != nullptr) pass.cache->length += tokens.size(1);
  return x;
}

at::Tensor Decoder::Logits(const at::Tensor& tokens, const Pass& pass) {
  return ApplyLinear(Hidden(tokens, pass), head_);
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
