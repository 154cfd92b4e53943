// What surrounds attention in a block, as operators: fp32 kernels against the composed float64 path.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <string>
#include <vector>

#include "tra/ops/rms_norm.h"

namespace tra {
namespace {

using Tensors = std::vector<at::Tensor>;

Tensors Leaves(const Tensors& from, at::ScalarType dtype) {
  Tensors leaves;
  for (const at::Tensor& x : from) leaves.push_back(x.detach().to(dtype).set_requires_grad(true));
  return leaves;
}

// Relative to the largest of the tensor, or to 1.
void ExpectNear(const at::Tensor& got, const at::Tensor& want, double tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes());
  if (got.numel() == 0) return;
  const at::Tensor wide = want.to(at::kDouble);
  const double scale = std::max(1.0, wide.abs().max().item<double>());
  EXPECT_LT((got.to(at::kDouble) - wide).abs().max().item<double>(), tolerance * scale);
}

// Values and gradients of every output in fp32 against float64, which does not reach the kernels.
void ExpectMatchesFloat64(const Tensors& inputs, const std::function<Tensors(const Tensors&)>& op) {
  const Tensors fast = Leaves(inputs, at::kFloat), wide = Leaves(inputs, at::kDouble);
  const Tensors got = op(fast), want = op(wide);
  at::Tensor got_loss = at::zeros({}, at::kFloat), want_loss = at::zeros({}, at::kDouble);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].scalar_type(), at::kFloat);
    EXPECT_EQ(want[i].scalar_type(), at::kDouble);
    ExpectNear(got[i], want[i], 1e-6);
    const at::Tensor weight = at::randn(got[i].sizes());
    got_loss = got_loss + (got[i] * weight).sum();
    want_loss = want_loss + (want[i] * weight.to(at::kDouble)).sum();
  }
  const Tensors a = torch::autograd::grad({got_loss}, fast), b = torch::autograd::grad({want_loss}, wide);
  for (size_t i = 0; i < a.size(); ++i) ExpectNear(a[i], b[i], 2e-6);
}

template <typename Body>
void ExpectError(const std::string& part, const Body& body) {
  try {
    body();
    FAIL() << "accepted; expected an error with: " << part;
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// One recorded and one not.
void ExpectSameBitsWithoutGradients(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& op) {
  const at::Tensor recorded = op(x.detach().set_requires_grad(true));
  EXPECT_TRUE(recorded.requires_grad());
  const c10::NoGradGuard no_grad;
  const at::Tensor plain = op(x);
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_TRUE(recorded.equal(plain));
}

void ExpectRefusesSecondDerivative(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& op) {
  const at::Tensor leaf = x.detach().set_requires_grad(true);
  const at::Tensor out = op(leaf);
  ExpectError("second derivative",
              [&] { torch::autograd::grad({out.sum()}, {leaf}, {}, /*retain_graph=*/true, /*create_graph=*/true); });
}

TEST(RmsNorm, MatchesFloat64WithGradients) {
  at::manual_seed(1);
  const auto op = [](const Tensors& in) { return Tensors{RmsNorm(in[0], in[1], 1e-5)}; };
  ExpectMatchesFloat64({at::randn({3, 70, 59}), at::randn({59})}, op);
  ExpectMatchesFloat64({at::randn({16}), at::randn({16})}, op);
  ExpectMatchesFloat64({at::randn({0, 16}), at::randn({16})}, op);
  ExpectMatchesFloat64({at::randn({20, 5, 64}).transpose(0, 1), at::randn({64})}, op);
}

TEST(RmsNorm, WithoutGradientsGivesTheSameBits) {
  const at::Tensor gain = at::randn({64});
  ExpectSameBitsWithoutGradients(at::randn({9, 64}), [&](const at::Tensor& x) { return RmsNorm(x, gain); });
}

TEST(RmsNorm, HalfPrecisionIsComputedInFloat) {
  const at::Tensor x = at::randn({4, 300}).to(at::kBFloat16), gain = at::ones({300}, at::kBFloat16);
  const at::Tensor got = RmsNorm(x, gain);
  EXPECT_EQ(got.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(got.equal(RmsNorm(x.to(at::kDouble), gain.to(at::kDouble)).to(at::kFloat).to(at::kBFloat16)));
}

TEST(RmsNorm, RefusesASecondDerivative) {
  ExpectRefusesSecondDerivative(at::randn({4, 8}), [](const at::Tensor& x) { return RmsNorm(x, at::ones({8})); });
}

TEST(RmsNorm, ErrorsShowTheShapesAndTheRemedy) {
  const at::Tensor x = at::randn({4, 8});
  ExpectError("got x [4, 8], gain [7]", [&] { RmsNorm(x, at::ones({7})); });
  ExpectError(".to(x.dtype)", [&] { RmsNorm(x, at::ones({8}, at::kDouble)); });
  ExpectError("eps must be positive", [&] { RmsNorm(x, at::ones({8}), 0.0); });
  ExpectError("floating point", [&] { RmsNorm(x.to(at::kLong), at::ones({8}, at::kLong)); });
  ExpectError("x [4, 8], y [1, 8]", [&] { AddRmsNorm(x, x.narrow(0, 0, 1), at::ones({8})); });
}

TEST(AddRmsNorm, MatchesFloat64WithGradients) {
  at::manual_seed(2);
  ExpectMatchesFloat64({at::randn({3, 70, 59}), at::randn({3, 70, 59}), at::randn({59})}, [](const Tensors& in) {
    const auto [sum, normed] = AddRmsNorm(in[0], in[1], in[2], 1e-5);
    return Tensors{sum, normed};
  });
}

TEST(AddRmsNorm, EitherOutputMayGoUnused) {
  at::manual_seed(3);
  for (const bool use_sum : {false, true}) {
    Tensors inputs = {at::randn({5, 16}), at::randn({5, 16})};
    const at::Tensor gain = at::randn({16});
    ExpectMatchesFloat64(inputs, [&](const Tensors& in) {
      const auto [sum, normed] = AddRmsNorm(in[0], in[1], gain.to(in[0].scalar_type()));
      return Tensors{use_sum ? sum : normed};
    });
  }
}

TEST(AddRmsNorm, WithoutGradientsGivesTheSameBits) {
  const at::Tensor y = at::randn({9, 64}), gain = at::randn({64});
  for (const int output : {0, 1}) {
    ExpectSameBitsWithoutGradients(at::randn({9, 64}), [&](const at::Tensor& x) {
      const auto [sum, normed] = AddRmsNorm(x, y, gain);
      return output == 0 ? sum : normed;
    });
  }
}

}  // namespace
}  // namespace tra
