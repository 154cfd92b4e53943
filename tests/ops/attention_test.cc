// The operators from C++; tests/python has the fuller comparison.
#include "tra/ops/attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace tra {
namespace {

struct Inputs {
  at::Tensor q, k, v, log_gate;

  std::vector<at::Tensor> All() const { return {q, k, v, log_gate}; }
};

Inputs Draw(int64_t queries, int64_t keys, at::ScalarType dtype = at::kFloat) {
  at::manual_seed(queries * 1000 + keys);
  const auto leaf = [&](const at::Tensor& x) { return x.to(dtype).set_requires_grad(true); };
  const at::Tensor q = at::randn({2, 3, queries, 16}), k = at::randn({2, 3, keys, 16}), v = at::randn({2, 3, keys, 16});
  return {leaf(q), leaf(k), leaf(v), leaf(at::log_sigmoid(at::randn({2, 3, queries}) + 2))};
}

void ExpectNear(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>(), tolerance);
}

TEST(Attention, KernelsMatchComposedInFloat64WithGradients) {
  for (const ScoreRule rule : {ScoreRule::kThreshold, ScoreRule::kSoftmax}) {
    AttentionOptions options;
    options.rule = rule;
    const Inputs fast = Draw(40, 50);
    Inputs wide = fast;
    for (at::Tensor* x : {&wide.q, &wide.k, &wide.v, &wide.log_gate}) {
      *x = x->detach().to(at::kDouble).set_requires_grad(true);
    }
    const at::Tensor gate = rule == ScoreRule::kThreshold ? fast.log_gate : at::Tensor();
    const at::Tensor wide_gate = rule == ScoreRule::kThreshold ? wide.log_gate : at::Tensor();
    const at::Tensor got = Attention(fast.q, fast.k, fast.v, gate, options);
    const at::Tensor want = AttentionComposed(wide.q, wide.k, wide.v, wide_gate, options);
    ExpectNear(got, want, 5e-6);
    const at::Tensor weight = at::randn_like(got);
    const auto gradients = [&](const at::Tensor& out, const Inputs& inputs) {
      std::vector<at::Tensor> of = {inputs.q, inputs.k, inputs.v};
      if (rule == ScoreRule::kThreshold) of.push_back(inputs.log_gate);
      return torch::autograd::grad({(out * weight).sum()}, of);
    };
    const std::vector<at::Tensor> a = gradients(got, fast), b = gradients(want, wide);
    for (size_t i = 0; i < a.size(); ++i) ExpectNear(a[i], b[i], 2e-5);
  }
}

TEST(Attention, WithoutGradientsGivesTheSameBits) {
  const Inputs x = Draw(70, 70);
  const at::Tensor recorded = Attention(x.q, x.k, x.v, x.log_gate, {});
  EXPECT_TRUE(recorded.requires_grad());
  const c10::NoGradGuard no_grad;
  const at::Tensor plain = Attention(x.q, x.k, x.v, x.log_gate, {});
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_TRUE(recorded.equal(plain));
}

TEST(Attention, ExpandedInputsAreReadThroughTheirStrides) {
  const c10::NoGradGuard no_grad;
  const Inputs x = Draw(30, 30);
  // One key head shared by all: stride 0.
  const at::Tensor k = x.k.select(1, 0).unsqueeze(1).expand({2, 3, 30, 16});
  EXPECT_TRUE(Attention(x.q, k, x.v, x.log_gate, {}).equal(Attention(x.q, k.contiguous(), x.v, x.log_gate, {})));
}

TEST(Decode, MatchesTheLastRow) {
  const c10::NoGradGuard no_grad;
  const Inputs x = Draw(200, 200);
  const auto last = [](const at::Tensor& t) { return t.narrow(2, 199, 1); };
  const at::Tensor whole = Attention(x.q, x.k, x.v, x.log_gate, {});
  ExpectNear(AttentionDecodeStep(last(x.q), x.k, x.v, last(x.log_gate), {}), last(whole), 5e-6);
}

TEST(Attention, ErrorsShowTheShapes) {
  const Inputs x = Draw(4, 5);
  try {
    Attention(x.q, x.k, x.v.narrow(2, 0, 3), x.log_gate, {});
    FAIL() << "accepted";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("v [2, 3, 3, 16]"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tra
