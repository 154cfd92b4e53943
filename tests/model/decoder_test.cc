#include "tra/model/decoder.h"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "tests/model/small.h"

namespace tra::testing {
namespace {

TEST(Decoder, HasThePapersParameterCounts) {
  EXPECT_EQ(Decoder(ModelConfig::Mini(6), 0).ParameterCount(), 2637072);
  EXPECT_EQ(Decoder(ModelConfig::Medium(50257), 0).ParameterCount(), 72500800);
}

TEST(Decoder, VariantsAddTheParametersTheyDocument) {
  const auto count = [](const std::string& attention) { return Decoder(SmallConfig(attention), 0).ParameterCount(); };
  const int64_t plain = count("nope");
  EXPECT_EQ(count("rope"), plain);
  EXPECT_EQ(count("ape"), plain + 128 * 32);
  EXPECT_EQ(count("label"), plain + 128 * 32);
  EXPECT_EQ(count("rel"), plain + 2 * 2 * 16);
  EXPECT_EQ(count("fot"), plain + 2 * (32 * 2 + 2));
  EXPECT_EQ(count("tra"), plain + 2 * (32 * 2 + 2));
  EXPECT_EQ(count("cope"), plain + 2 * 16 * 8);
  EXPECT_EQ(count("diff"), plain + 2 * (4 * 16 + 32));
}

TEST(Decoder, WeightsAreAFunctionOfTheSeed) {
  const Decoder a(SmallConfig("tra"), 3), b(SmallConfig("tra"), 3), c(SmallConfig("tra"), 4);
  for (const auto& each : a.named_parameters()) {
    EXPECT_TRUE(each.value().equal(b.named_parameters()[each.key()])) << each.key();
  }
  EXPECT_FALSE(a.Head().equal(c.Head()));
}

TEST(Decoder, LeavesTheGlobalGeneratorAlone) {
  at::manual_seed(5);
  const at::Tensor untouched = at::rand({3});
  at::manual_seed(5);
  const Decoder model(SmallConfig("diff"), 1);
  EXPECT_TRUE(at::rand({3}).equal(untouched));
}

TEST(Decoder, InitialWeightsHaveTheDocumentedSpread) {
  const Decoder model(ModelConfig::Mini(64), 1);
  const auto weights = model.named_parameters();
  // Each has n = 16,384 draws or more; a sample's deviation has a relative error of 1 / sqrt(2n), and 4 times that is
  // allowed.
  const auto deviation = [&](const char* name) { return weights[name].std().item<double>(); };
  EXPECT_NEAR(deviation("head"), 0.02, 0.02 * 4 / std::sqrt(2 * 16384.0));
  EXPECT_NEAR(deviation("embedding"), 0.01 / std::sqrt(3.0), 1e-4);
  EXPECT_LE(weights["embedding"].abs().max().item<double>(), 0.01);
  EXPECT_NEAR(deviation("layers.2.attention.query.weight"), 1 / 16.0 / std::sqrt(3.0), 5e-4);
  const Decoder fot(
      [] {
        ModelConfig config = ModelConfig::Mini(64);
        config.attention = "fot";
        return config;
      }(),
      1);
  EXPECT_EQ(fot.named_parameters()["layers.0.attention.gate.bias"].abs().max().item<double>(), 0.0);
  EXPECT_NEAR(fot.named_parameters()["layers.0.attention.gate.weight"].std().item<double>(), 0.02, 0.002);
}

class Variants : public EveryVariant {};
TRA_FOR_EVERY_VARIANT(Variants);

TEST_P(Variants, ATokenChangesNothingBeforeIt) {
  const c10::NoGradGuard no_grad;
  const auto model = SmallModel(GetParam());
  const at::Tensor tokens = RandomTokens(2, 70);
  const at::Tensor before = model->Logits(tokens);
  for (const int64_t t : {0, 1, 24, 69}) {
    at::Tensor changed = tokens.clone();
    changed.select(1, t).add_(1).remainder_(11);
    const at::Tensor after = model->Logits(changed);
    EXPECT_TRUE(after.narrow(1, 0, t).equal(before.narrow(1, 0, t))) << t;
    EXPECT_FALSE(after.narrow(1, t, 70 - t).equal(before.narrow(1, t, 70 - t))) << t;
  }
}

// The same model in float64 runs on composed tensor operations, not on the kernels.
TEST_P(Variants, MatchesItsFloat64Self) {
  for (const Block block : {Block::kPrenorm, Block::kNormedResidual}) {
    ModelConfig config = SmallConfig(GetParam());
    config.block = block;
    const auto fast = SmallModel(config), wide = SmallModel(config);
    wide->to(at::kDouble);
    const at::Tensor tokens = RandomTokens(5, 60);  // enough rows for Project to join its products
    at::Tensor targets = RandomTokens(5, 60, 11, 6);
    targets.select(1, 7).fill_(kIgnore);
    const CrossEntropySum a = fast->Loss(tokens, targets), b = wide->Loss(tokens, targets);
    EXPECT_EQ(a.supervised, 5 * 59);
    EXPECT_NEAR(a.loss.item<double>(), b.loss.item<double>(), 2e-6 * b.loss.item<double>());
    a.loss.backward();
    b.loss.backward();
    for (const auto& each : fast->named_parameters()) {
      const at::Tensor want = wide->named_parameters()[each.key()].grad();
      ASSERT_TRUE(each.value().grad().defined() && want.defined()) << each.key();
      // The bound allows for rounding in sums over 300 positions and two layers.
      EXPECT_LT(MaxDifference(each.value().grad(), want), 3e-4 * std::max(1.0, want.abs().max().item<double>()))
          << each.key();
    }
  }
}

TEST_P(Variants, DropoutIsAFunctionOfTheSeed) {
  const c10::NoGradGuard no_grad;
  ModelConfig config = SmallConfig(GetParam());
  config.embedding_dropout = config.attention_dropout = config.mlp_dropout = 0.2;
  const auto model = SmallModel(config);
  const at::Tensor tokens = RandomTokens(2, 40);
  const auto logits = [&](uint64_t seed) {
    Pass pass;
    pass.draws.seed = seed;
    return model->Logits(tokens, pass);
  };
  model->train();
  const at::Tensor first = logits(1);
  EXPECT_TRUE(first.equal(logits(1)));
  EXPECT_FALSE(first.equal(logits(2)));
  model->eval();
  EXPECT_FALSE(first.equal(logits(1)));
  EXPECT_EQ(logits(1).equal(logits(2)), GetParam() != "label");
}

// Losses and gradients of a step are sums over its sequences, so how these are batched and distributed over processes
// changes only the rounding, even with dropout of all kinds.
TEST_P(Variants, WhatIsDrawnFollowsTheSequences) {
  ModelConfig config = SmallConfig(GetParam());
  config.embedding_dropout = config.attention_dropout = config.mlp_dropout = 0.2;
  const at::Tensor tokens = RandomTokens(1, 98), targets = RandomTokens(1, 98);
  const at::Tensor numbers = at::tensor({12, 7, 5, 9}, at::kLong), offsets = at::tensor({0, 40, 40, 65, 98}, at::kInt);
  // Runs on the kernels, where sums over 100 positions differ with their order (worst seen 3.1e-5, fot), and on tensor
  // operations in float64.
  for (const auto& [dtype, bound] : {std::pair(at::kFloat, 1e-4), std::pair(at::kDouble, 1e-12)}) {
    const auto model = SmallModel(config);
    model->to(dtype);
    model->train();
    const auto gradients = [&] {
      std::vector<at::Tensor> all;
      for (const at::Tensor& each : model->parameters()) {
        all.push_back(each.grad().clone());
        each.mutable_grad().zero_();
      }
      return all;
    };
    Pass whole;
    whole.draws = {3, numbers, offsets};
    const at::Tensor loss = model->Loss(tokens, targets, whole).loss;
    loss.backward();
    const std::vector<at::Tensor> want = gradients();
    double sum = 0;
    for (const int64_t i : {3, 0, 2}) {
      Pass own;
      own.draws = {3, numbers.narrow(0, i, 1)};
      const auto part = [&](const at::Tensor& x) {
        return x.slice(1, offsets[i].item<int64_t>(), offsets[i + 1].item<int64_t>()).contiguous();
      };
      const at::Tensor one = model->Loss(part(tokens), part(targets), own).loss;
      one.backward();
      sum += one.item<double>();
    }
    EXPECT_NEAR(sum, loss.item<double>(), bound * sum);
    const std::vector<at::Tensor> got = gradients();
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_LT(MaxDifference(got[i], want[i]), bound * std::max(1.0, want[i].abs().max().item<double>())) << i;
    }
  }
}

TEST(Decoder, OffsetsThatDoNotFitAreErrors) {
  const c10::NoGradGuard no_grad;
  const auto model = SmallModel("rope");
  Pass pass;
  pass.draws.cu_seqlens = at::tensor({0, 4, 9}, at::kInt);
  EXPECT_EQ(model->Logits(RandomTokens(1, 9), pass).size(1), 9);
  EXPECT_THROW(model->Logits(RandomTokens(2, 9), pass), c10::ValueError);
  EXPECT_THROW(model->Logits(RandomTokens(1, 10), pass), c10::ValueError);
  pass.draws.cu_seqlens = at::tensor({0, 4, 9}, at::kLong);
  EXPECT_THROW(model->Logits(RandomTokens(1, 9), pass), c10::ValueError);
  Cache cache = model->NewCache(9);
  pass.draws.cu_seqlens = at::tensor({0, 4, 9}, at::kInt);
  pass.cache = &cache;
  model->eval();
  EXPECT_THROW(model->Logits(RandomTokens(1, 9), pass), c10::ValueError);
}

TEST_P(Variants, EachKindOfDropoutDoesSomething) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = RandomTokens(2, 40);
  for (double ModelConfig::*which :
       {&ModelConfig::embedding_dropout, &ModelConfig::attention_dropout, &ModelConfig::mlp_dropout}) {
    ModelConfig config = SmallConfig(GetParam());
    config.embedding_dropout = config.attention_dropout = config.mlp_dropout = 0.0;
    const auto without = SmallModel(config);
    config.*which = 0.3;
    const auto with = SmallModel(config);
    without->train();
    with->train();
    EXPECT_GT(MaxDifference(with->Logits(tokens), without->Logits(tokens)), 1e-3);
  }
}

TEST(Decoder, RowsThatKeepNothingHaveFiniteGradients) {
  const auto model = SmallModel("tra");
  {
    // Queries are minus the keys: no query keeps its own key, and most rows keep nothing or little.
    const c10::NoGradGuard no_grad;
    for (const auto& each : model->named_parameters()) {
      if (each.key().find("query.weight") == std::string::npos) continue;
      std::string key = each.key();
      key.replace(key.find("query"), 5, "key");
      each.value().copy_(-model->named_parameters()[key]);
    }
  }
  const at::Tensor tokens = at::full({2, 30}, 4, at::kLong);  // all tokens alike: every row keeps nothing
  model->Loss(tokens, tokens).loss.backward();
  for (const auto& each : model->named_parameters()) {
    EXPECT_TRUE(at::isfinite(each.value().grad()).all().item<bool>()) << each.key();
  }
  EXPECT_EQ(model->named_parameters()["layers.0.attention.value.weight"].grad().abs().max().item<double>(), 0.0);
}

TEST(Decoder, BlocksAreWiredDifferently) {
  const c10::NoGradGuard no_grad;
  ModelConfig config = SmallConfig("tra");
  const auto prenorm = SmallModel(config);
  config.block = Block::kNormedResidual;
  const auto normed = SmallModel(config);
  const at::Tensor tokens = RandomTokens(1, 20);
  EXPECT_GT(MaxDifference(prenorm->Logits(tokens), normed->Logits(tokens)), 1e-2);
}

TEST(Decoder, PositionsBeyondTheTableAreAnError) {
  const auto message = [&](const std::string& attention) -> std::string {
    try {
      SmallModel(attention)->Logits(RandomTokens(1, 129));
    } catch (const c10::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("ape").find("position 128 has no embedding"), std::string::npos);
  EXPECT_NE(message("label").find("set max_length to at least 129"), std::string::npos);
  EXPECT_EQ(message("tra"), "");
}

TEST(Decoder, TokensMustBeIntegersInTwoDimensions) {
  const auto model = SmallModel("tra");
  EXPECT_THROW(model->Logits(at::zeros({3}, at::kLong)), c10::Error);
  EXPECT_THROW(model->Logits(at::zeros({3, 4})), c10::Error);
  EXPECT_THROW(model->Logits(at::full({1, 4}, 11, at::kLong)), c10::Error);
}

}  // namespace
}  // namespace tra::testing
