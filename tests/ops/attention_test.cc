// Tests the operators from C++; tests/python has the fuller comparison.
#include "tra/ops/attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tra/kernels/attention/rules.h"

namespace tra {
namespace {

struct Inputs {
  at::Tensor q, k, v, rule_input;

  std::vector<at::Tensor> All() const {
    return rule_input.defined() ? std::vector<at::Tensor>{q, k, v, rule_input} : std::vector<at::Tensor>{q, k, v};
  }
  Inputs Wide() const {
    const auto wide = [](const at::Tensor& x) {
      return x.defined() ? x.detach().to(at::kDouble).set_requires_grad(true) : x;
    };
    return {wide(q), wide(k), wide(v), wide(rule_input)};
  }
};

at::Tensor DrawInput(ScoreRule rule, int64_t queries, int64_t keys) {
  const RuleInfo& info = InfoOf(rule);
  if (info.rows == InputRows::kNone) return {};
  if (info.rows == InputRows::kDistances) return at::randn({3, 21});
  const int64_t rows = info.rows == InputRows::kKeys ? keys : queries;
  if (info.max_table > 0) return at::randn({2, 3, rows, 11});
  return at::log_sigmoid(at::randn({2, 3, rows}) + 2);
}

Inputs Draw(int64_t queries, int64_t keys, ScoreRule rule = ScoreRule::kThreshold) {
  at::manual_seed(queries * 1000 + keys);
  const at::Tensor q = at::randn({2, 3, queries, 16}), k = at::randn({2, 3, keys, 16}), v = at::randn({2, 3, keys, 16});
  const Inputs inputs = {q, k, v, DrawInput(rule, queries, keys)};
  for (at::Tensor x : inputs.All()) x.set_requires_grad(true);
  return inputs;
}

void ExpectNear(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>(), tolerance);
}

TEST(Attention, KernelsMatchComposedInFloat64WithGradients) {
  for (const RuleInfo& info : kRules) {
    const ScoreRule rule = info.rule;
    SCOPED_TRACE(static_cast<int>(rule));
    AttentionOptions options;
    options.rule = rule;
    for (const float dropout_p : {0.0f, 0.1f}) {
      options.dropout_on = DropoutOn::kWeights;
      options.dropout_p = dropout_p;
      options.seed = 5;
      const at::Tensor sequence_ids = at::tensor({8, 3}, at::kLong);
      const Inputs fast = Draw(40, 50, rule);
      const Inputs wide = fast.Wide();
      const at::Tensor got = Attention(fast.q, fast.k, fast.v, fast.rule_input, options, sequence_ids);
      const at::Tensor want = AttentionComposed(wide.q, wide.k, wide.v, wide.rule_input, options, sequence_ids.clone());
      sequence_ids.zero_();  // the backward has its own copy
      ExpectNear(got, want, 5e-6);
      const at::Tensor weight = at::randn_like(got);
      const std::vector<at::Tensor> a = torch::autograd::grad({(got * weight).sum()}, fast.All());
      const std::vector<at::Tensor> b = torch::autograd::grad({(want * weight).sum()}, wide.All());
      for (size_t i = 0; i < a.size(); ++i) ExpectNear(a[i], b[i], 2e-5);
    }
  }
}

TEST(Attention, TheKernelsNumbersAreNotTheOperators) {
  const Inputs x = Draw(3, 3);
  const int64_t id = 1;
  AttentionOptions options;
  options.sequence_ids = &id;
  EXPECT_THROW(Attention(x.q, x.k, x.v, x.rule_input, options), c10::ValueError);
}

TEST(Attention, WithoutGradientsGivesTheSameBits) {
  const Inputs x = Draw(70, 70);
  const at::Tensor recorded = Attention(x.q, x.k, x.v, x.rule_input, {});
  EXPECT_TRUE(recorded.requires_grad());
  const c10::NoGradGuard no_grad;
  const at::Tensor plain = Attention(x.q, x.k, x.v, x.rule_input, {});
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_TRUE(recorded.equal(plain));
}

TEST(Attention, ExpandedInputsAreReadThroughTheirStrides) {
  const c10::NoGradGuard no_grad;
  const Inputs x = Draw(30, 30);
  // All heads share one head of keys: its stride is 0.
  const at::Tensor k = x.k.select(1, 0).unsqueeze(1).expand({2, 3, 30, 16});
  EXPECT_TRUE(Attention(x.q, k, x.v, x.rule_input, {}).equal(Attention(x.q, k.contiguous(), x.v, x.rule_input, {})));
}

TEST(Decode, MatchesTheLastRow) {
  const c10::NoGradGuard no_grad;
  for (const RuleInfo& info : kRules) {
    const ScoreRule rule = info.rule;
    SCOPED_TRACE(static_cast<int>(rule));
    AttentionOptions options;
    options.rule = rule;
    const Inputs x = Draw(200, 200, rule);
    const auto last = [](const at::Tensor& t) { return t.narrow(2, 199, 1); };
    const bool by_query = info.rows == InputRows::kQueries;
    const at::Tensor whole = Attention(x.q, x.k, x.v, x.rule_input, options);
    ExpectNear(AttentionDecodeStep(last(x.q), x.k, x.v, by_query ? last(x.rule_input) : x.rule_input, options),
               last(whole), 5e-6);
  }
}

TEST(Attention, TheTableOfDistancesIsSharedByTheBatch) {
  AttentionOptions options;
  options.rule = ScoreRule::kDistance;
  const Inputs x = Draw(30, 30, options.rule);
  const auto gradient = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    return torch::autograd::grad({Attention(q, k, v, x.rule_input, options).square().sum()}, {x.rule_input})[0];
  };
  const auto one = [](const at::Tensor& t, int64_t b) { return t.narrow(0, b, 1); };
  const at::Tensor apart =
      gradient(one(x.q, 0), one(x.k, 0), one(x.v, 0)) + gradient(one(x.q, 1), one(x.k, 1), one(x.v, 1));
  ExpectNear(gradient(x.q, x.k, x.v), apart, 1e-5);
}

TEST(Attention, ErrorsShowTheShapes) {
  const Inputs x = Draw(4, 5);
  try {
    Attention(x.q, x.k, x.v.narrow(2, 0, 3), x.rule_input, {});
    FAIL() << "accepted";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("v [2, 3, 3, 16]"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tra
