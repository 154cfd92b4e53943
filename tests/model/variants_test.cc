// Tests the identities that relate the variants to each other.
#include "tra/model/attention/variants.h"

#include <cmath>

#include "tests/model/small.h"
#include "tra/model/labels.h"
#include "tra/ops/rms_norm.h"
#include "tra/ops/rope.h"

namespace tra::testing {
namespace {

// Copies every weight of `from` that `to` has.
void CopyWeights(const Decoder& from, Decoder& to) {
  const c10::NoGradGuard no_grad;
  const auto source = from.named_parameters();
  for (auto& each : to.named_parameters()) {
    if (source.contains(each.key())) each.value().copy_(source[each.key()]);
  }
}

void Set(Decoder& model, const std::string& ending, double value) {
  const c10::NoGradGuard no_grad;
  size_t found = 0;
  for (auto& each : model.named_parameters()) {
    const std::string& key = each.key();
    if (key.size() < ending.size() || key.compare(key.size() - ending.size(), ending.size(), ending) != 0) continue;
    each.value().fill_(value);
    ++found;
  }
  ASSERT_GT(found, 0u) << ending;
}

TEST(Identity, FotThatForgetsNothingIsNope) {
  const c10::NoGradGuard no_grad;
  const auto nope = SmallModel("nope"), fot = SmallModel("fot");
  CopyWeights(*nope, *fot);
  Set(*fot, "gate.weight", 0);
  Set(*fot, "gate.bias", 100);  // sigmoid(100) = 1
  const at::Tensor tokens = RandomTokens(2, 50);
  EXPECT_LT(MaxDifference(fot->Logits(tokens), nope->Logits(tokens)), 1e-5);
  Set(*fot, "gate.bias", 0);
  EXPECT_GT(MaxDifference(fot->Logits(tokens), nope->Logits(tokens)), 1e-2);
}

TEST(Identity, RelWithoutBiasAndCopeWithoutPositionsAreNope) {
  const c10::NoGradGuard no_grad;
  const auto nope = SmallModel("nope");
  const at::Tensor tokens = RandomTokens(2, 50);
  for (const char* attention : {"rel", "cope"}) {
    const auto other = SmallModel(attention);
    CopyWeights(*nope, *other);
    EXPECT_GT(MaxDifference(other->Logits(tokens), nope->Logits(tokens)), 1e-2);
    Set(*other, std::string(attention) == "rel" ? "attention.bias" : "attention.positions", 0);
    EXPECT_LT(MaxDifference(other->Logits(tokens), nope->Logits(tokens)), 1e-5);
  }
}

TEST(Identity, AnOpenGateMakesTraForgetDistances) {
  const c10::NoGradGuard no_grad;
  // Without decay, the last position cannot tell the order of the two kinds of tokens before it.
  const at::Tensor a = at::tensor({3, 5, 3, 3, 5, 7}, at::kLong).unsqueeze(0);
  const at::Tensor b = at::tensor({5, 3, 3, 5, 3, 7}, at::kLong).unsqueeze(0);
  ModelConfig one_layer = SmallConfig("tra");
  one_layer.layers = 1;
  const auto shallow = SmallModel(one_layer);
  Set(*shallow, "gate.weight", 0);
  Set(*shallow, "gate.bias", 100);
  const auto last = [&](const at::Tensor& tokens) { return shallow->Logits(tokens).select(1, 5); };
  EXPECT_LT(MaxDifference(last(a), last(b)), 1e-5);
  Set(*shallow, "gate.bias", 0);
  EXPECT_GT(MaxDifference(last(a), last(b)), 1e-3);
}

TEST(Identity, RopeScoresDependOnTheDistanceOnly) {
  at::manual_seed(1);
  const at::Tensor q = at::randn({1, 1, 1, 16}).expand({1, 1, 40, 16}).contiguous();
  const at::Tensor k = at::randn({1, 1, 1, 16}).expand({1, 1, 40, 16}).contiguous();
  const at::Tensor scores = at::matmul(Rope(q, 0, 500000.0), Rope(k, 0, 500000.0).transpose(-2, -1))[0][0];
  for (int64_t distance = 0; distance < 40; ++distance) {
    const at::Tensor same = scores.diagonal(-distance);
    EXPECT_LT((same - same[0]).abs().max().item<double>(), 1e-5) << distance;
  }
  EXPECT_GT((scores.diagonal(0)[0] - scores.diagonal(-5)[0]).abs().item<double>(), 1e-3);
  const at::Tensor later = at::matmul(Rope(q, 1000, 500000.0), Rope(k, 1000, 500000.0).transpose(-2, -1))[0][0];
  EXPECT_LT(MaxDifference(later, scores), 2e-4);  // angles of 1000 radians, rounded to fp32
}

TEST(Identity, DiffWithLambdaZeroIsNormedPlainAttention) {
  const c10::NoGradGuard no_grad;
  Init init(1);
  const auto layer = std::make_shared<AttentionLayer>(SmallConfig("diff"), 3, init);
  layer->eval();
  const double lambda_init = 0.8 - 0.6 * std::exp(-0.3 * 3);
  auto weights = layer->named_parameters();
  weights["lambda_q1"].zero_();  // exp(0) = 1
  weights["lambda_q2"].zero_();
  weights["lambda_k2"].zero_();
  weights["lambda_q2"][0] = 1;  // lambda = 1 - exp(log(1 + lambda_init)) + lambda_init = 0
  weights["lambda_k2"][0] = std::log(1 + lambda_init);
  at::manual_seed(2);
  const at::Tensor x = at::randn({2, 30, 32});
  const auto project = [&](const char* name) { return at::linear(x, weights[std::string(name) + ".weight"]); };
  const auto first = [&](const at::Tensor& y) {  // the first head of the one pair
    return Rope(SplitHeads(y, 2), 0, 500000.0).narrow(1, 0, 1);
  };
  AttentionOptions options;
  options.rule = ScoreRule::kSoftmax;
  options.qk_norm = false;
  const at::Tensor plain =
      AttentionComposed(first(project("query")), first(project("key")), SplitHeads(project("value"), 1), {}, options);
  const at::Tensor normed = RmsNorm(plain, weights["norm"], 1e-5) * (1 - lambda_init);
  const at::Tensor want =
      at::linear(normed.transpose(1, 2).reshape({2, 30, 32}), weights["out.weight"], weights["out.bias"]);
  EXPECT_LT(MaxDifference(layer->Forward(x, 0, 0, nullptr, nullptr), want), 1e-5);
}

TEST(Identity, QkNormMakesTheScaleOfQueriesIrrelevant) {
  const c10::NoGradGuard no_grad;
  for (const char* attention : {"nope", "tra", "cope"}) {
    for (const bool norm : {true, false}) {
      ModelConfig config = SmallConfig(attention);
      config.qk_norm = norm;
      const auto model = SmallModel(config), scaled = SmallModel(config);
      for (auto& each : scaled->named_parameters()) {
        if (each.key().find("query.weight") != std::string::npos) each.value().mul_(3);
      }
      const at::Tensor tokens = RandomTokens(1, 30);
      const double difference = MaxDifference(model->Logits(tokens), scaled->Logits(tokens));
      EXPECT_EQ(difference < 1e-4, norm) << attention << " " << difference;
    }
  }
}

TEST(Labels, AreSortedSubsetsAndEveryLabelIsEquallyLikely) {
  const int64_t sequences = 4000, length = 10, range = 25;
  const at::Tensor labels = DrawLabels(7, std::vector<int64_t>(sequences, length), range).view({sequences, length});
  EXPECT_TRUE((labels.narrow(1, 1, length - 1) > labels.narrow(1, 0, length - 1)).all().item<bool>());
  EXPECT_GE(labels.min().item<int64_t>(), 0);
  EXPECT_LT(labels.max().item<int64_t>(), range);
  const double p = static_cast<double>(length) / range;
  const double sigma = std::sqrt(sequences * p * (1 - p));
  const at::Tensor counts = at::bincount(labels.flatten(), {}, range);
  for (int64_t label = 0; label < range; ++label) {
    EXPECT_NEAR(counts[label].item<double>(), sequences * p, 4 * sigma) << label;
  }
  EXPECT_TRUE(DrawLabels(1, {25, 0, 25}, 25).equal(at::arange(25).repeat({2})));
}

TEST(Labels, DependOnTheSequenceItsLengthAndTheSeedAndNotOnTheBatch) {
  const std::vector<int64_t> lengths(8, 20);
  const at::Tensor all = DrawLabels(5, lengths, 100).view({8, 20});
  const at::Tensor some = DrawLabels({5, at::tensor({6, 3, 4}, at::kLong)}, {20, 7, 20}, 100);
  EXPECT_TRUE(some.narrow(0, 0, 20).equal(all[6]));
  EXPECT_TRUE(some.narrow(0, 27, 20).equal(all[4]));
  EXPECT_FALSE(DrawLabels(6, lengths, 100).view({8, 20}).equal(all));
  EXPECT_FALSE(all[0].equal(all[1]));
  EXPECT_THROW(DrawLabels(5, lengths, 19), c10::ValueError);

  const c10::NoGradGuard no_grad;
  const auto model = SmallModel("label");
  const at::Tensor tokens = RandomTokens(4, 30);
  Pass pass;
  pass.draws.seed = 9;
  const at::Tensor whole = model->Logits(tokens, pass);
  pass.draws.sequence_ids = at::arange(2, 4);
  EXPECT_LT(MaxDifference(model->Logits(tokens.narrow(0, 2, 2), pass), whole.narrow(0, 2, 2)), 1e-5);
}

TEST(Table, UnknownNamesListTheKnownOnes) {
  try {
    FindVariant("sliding");
    FAIL() << "found";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "unknown attention 'sliding'; there are nope, ape, rel, rope, label, fot, diff, cope, tra");
  }
}

}  // namespace
}  // namespace tra::testing
