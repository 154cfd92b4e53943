// Tests the operators that surround attention in a block: the fp32 kernels against the composed float64 path.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tra/kernels/dropout_draws.h"
#include "tra/ops/dropout.h"
#include "tra/ops/rms_norm.h"
#include "tra/ops/rope.h"
#include "tra/ops/swiglu.h"

namespace tra {
namespace {

using Tensors = std::vector<at::Tensor>;

Tensors Leaves(const Tensors& from, at::ScalarType dtype) {
  Tensors leaves;
  for (const at::Tensor& x : from) leaves.push_back(x.detach().to(dtype).set_requires_grad(true));
  return leaves;
}

// Compares relative to the largest element of the tensor, or to 1.
void ExpectNear(const at::Tensor& got, const at::Tensor& want, double tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes());
  if (got.numel() == 0) return;
  const at::Tensor wide = want.to(at::kDouble);
  const double scale = std::max(1.0, wide.abs().max().item<double>());
  EXPECT_LT((got.to(at::kDouble) - wide).abs().max().item<double>(), tolerance * scale);
}

// Compares values and gradients of every output in fp32 with float64, which does not use the kernels.
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

// Compares bfloat16 with the same in float64, rounded only at the end: steps in bfloat16 would change a third of all
// elements.
void ExpectRoundedOnce(const at::Tensor& got, const at::Tensor& want) {
  EXPECT_EQ(got.scalar_type(), at::kBFloat16);
  EXPECT_LE(got.ne(want.to(at::kFloat).to(at::kBFloat16)).sum().item<int64_t>(), got.numel() / 100);
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

// Compares a result that autograd recorded with one that it did not.
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
  ExpectRoundedOnce(RmsNorm(x, gain), RmsNorm(x.to(at::kDouble), gain.to(at::kDouble)));
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

TEST(SwiGlu, MatchesFloat64WithGradients) {
  at::manual_seed(4);
  for (const double p : {0.0, 0.3}) {
    const auto op = [&](const Tensors& in) { return Tensors{SwiGlu(in[0], p, 7)}; };
    ExpectMatchesFloat64({at::randn({3, 40, 118}) * 3}, op);
    ExpectMatchesFloat64({at::randn({512})}, op);
    ExpectMatchesFloat64({at::randn({0, 16})}, op);
    ExpectMatchesFloat64({at::randn({20, 5, 64}).transpose(0, 1)}, op);
  }
}

TEST(SwiGlu, WithoutGradientsGivesTheSameBits) {
  ExpectSameBitsWithoutGradients(at::randn({9, 64}), [](const at::Tensor& x) { return SwiGlu(x, 0.2, 3); });
}

TEST(SwiGlu, HalfPrecisionIsComputedInFloat) {
  const at::Tensor x = at::randn({4, 300}).to(at::kBFloat16);
  ExpectRoundedOnce(SwiGlu(x, 0.2, 3), SwiGlu(x.to(at::kDouble), 0.2, 3));
}

TEST(SwiGlu, DropsAsDropoutDoes) {
  const at::Tensor x = at::randn({9, 64});
  ExpectNear(SwiGlu(x, 0.2, 3), Dropout(SwiGlu(x), 0.2, 3), 1e-6);
}

TEST(SwiGlu, RefusesASecondDerivative) {
  ExpectRefusesSecondDerivative(at::randn({4, 8}), [](const at::Tensor& x) { return SwiGlu(x); });
}

TEST(SwiGlu, ErrorsShowTheShapesAndTheRemedy) {
  ExpectError("got [4, 7]; concatenate", [] { SwiGlu(at::randn({4, 7})); });
  ExpectError("must be in [0, 1), got 1", [] { SwiGlu(at::randn({4, 8}), 1.0); });
  ExpectError("floating point", [] { SwiGlu(at::ones({4, 8}, at::kLong)); });
}

TEST(Dropout, MatchesFloat64WithGradients) {
  at::manual_seed(5);
  const auto op = [](const Tensors& in) { return Tensors{Dropout(in[0], 0.3, 8)}; };
  ExpectMatchesFloat64({at::randn({3, 40, 59})}, op);
  ExpectMatchesFloat64({at::randn({40, 30}).t()}, op);
}

// Uses a seed with bits beyond the 63 of a positive int64.
TEST(Dropout, DropsTheDocumentedElements) {
  const uint64_t seed = ~uint64_t{5};
  const at::Tensor x = at::ones({1000}).set_requires_grad(true);
  const at::Tensor got = Dropout(x, 0.3, seed);
  const at::Tensor gradient = torch::autograd::grad({got.sum()}, {x})[0];
  for (int64_t i = 0; i < got.numel(); ++i) {
    const bool dropped = ElementDropped(SequenceSeed(seed, nullptr, 0), 0.3f, static_cast<uint64_t>(i));
    EXPECT_EQ(got[i].item<float>() == 0, dropped) << i;
    EXPECT_EQ(gradient[i].item<float>() == 0, dropped) << i;
  }
}

// Checks forward and backward, fused and composed: a sequence has the same mask wherever it is in a batch.
TEST(Dropout, FollowsTheNumbersOfSequences) {
  const std::vector<std::function<at::Tensor(const at::Tensor&, const Draws&)>> ops = {
      [](const at::Tensor& x, const Draws& draws) { return Dropout(x, 0.3, draws); },
      [](const at::Tensor& x, const Draws& draws) { return SwiGlu(x, 0.3, draws); }};
  at::manual_seed(6);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const at::Tensor x = at::randn({3, 20, 18}, dtype);
    const auto run = [&](const auto& op, const at::Tensor& in, const Draws& draws) {
      const at::Tensor leaf = in.clone().set_requires_grad(true);
      const at::Tensor out = op(leaf, draws);
      return std::vector<at::Tensor>{out.detach(), torch::autograd::grad({out.sum()}, {leaf})[0]};
    };
    for (const auto& op : ops) {
      const auto all = run(op, x, {5, at::tensor({4, 1, 8}, at::kLong)});
      const auto some = run(op, x.narrow(0, 1, 2), {5, at::tensor({1, 8}, at::kLong)});
      const auto others = run(op, x.narrow(0, 1, 2), {5, at::tensor({2, 8}, at::kLong)});
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(all[i].narrow(0, 1, 2).equal(some[i])) << dtype << i;
        EXPECT_FALSE(some[i][0].equal(others[i][0])) << dtype << i;
        EXPECT_TRUE(some[i][1].equal(others[i][1])) << dtype << i;
      }
    }
  }
  ExpectError("must be contiguous int64 [3]", [] { Dropout(at::randn({3, 4}), 0.5, {1, at::arange(2)}); });
}

TEST(Dropout, OfNothingIsTheInput) {
  const at::Tensor x = at::randn({4});
  EXPECT_TRUE(Dropout(x, 0.0, 1).is_same(x));
}

TEST(Dropout, WithoutGradientsGivesTheSameBits) {
  ExpectSameBitsWithoutGradients(at::randn({9, 64}), [](const at::Tensor& x) { return Dropout(x, 0.2, 3); });
}

TEST(Dropout, RefusesASecondDerivative) {
  ExpectRefusesSecondDerivative(at::randn({4, 8}), [](const at::Tensor& x) { return Dropout(x, 0.2, 3); });
}

TEST(Dropout, ErrorsNameTheRange) {
  ExpectError("must be in [0, 1), got -0.5", [] { Dropout(at::randn({4}), -0.5, 0); });
  ExpectError("floating point", [] { Dropout(at::ones({4}, at::kLong), 0.5, 0); });
}

TEST(Rope, MatchesFloat64WithGradients) {
  at::manual_seed(6);
  const auto op = [](const Tensors& in) { return Tensors{Rope(in[0], 5, 500.0)}; };
  ExpectMatchesFloat64({at::randn({2, 3, 40, 26})}, op);
  ExpectMatchesFloat64({at::randn({2, 40, 3, 26}).transpose(1, 2)}, op);
  ExpectMatchesFloat64({at::randn({2, 3, 26, 40}).transpose(2, 3)}, op);  // channels are not adjacent
  ExpectMatchesFloat64({at::randn({2, 3, 0, 26})}, op);
}

TEST(Rope, ReadsStridesAndKeepsTheLayout) {
  // The queries of a fused projection, [B,T,3,H,d].
  const at::Tensor x = at::randn({2, 10, 3, 4, 16}).select(2, 1).transpose(1, 2);
  const at::Tensor got = Rope(x);
  EXPECT_TRUE(got.transpose(1, 2).is_contiguous());
  EXPECT_TRUE(got.equal(Rope(x.contiguous())));
  EXPECT_TRUE(Rope(x.contiguous()).is_contiguous());
  const at::Tensor shared = x.select(1, 0).unsqueeze(1).expand({2, 4, 10, 16});
  EXPECT_TRUE(Rope(shared).equal(Rope(shared.contiguous())));
}

TEST(Rope, HalfPrecisionIsComputedInFloat) {
  const at::Tensor x = at::randn({1, 2, 30, 16}).to(at::kBFloat16);
  ExpectRoundedOnce(Rope(x), Rope(x.to(at::kDouble)));
}

TEST(Rope, WithoutGradientsGivesTheSameBits) {
  ExpectSameBitsWithoutGradients(at::randn({2, 3, 5, 8}), [](const at::Tensor& x) { return Rope(x); });
}

TEST(Rope, RefusesASecondDerivative) {
  ExpectRefusesSecondDerivative(at::randn({1, 1, 4, 8}), [](const at::Tensor& x) { return Rope(x); });
}

TEST(Rope, ErrorsShowTheShapes) {
  ExpectError("must be even; got x [1, 2, 3, 7]", [] { Rope(at::randn({1, 2, 3, 7})); });
  ExpectError("[batch, head, position, channel], got [3, 8]", [] { Rope(at::randn({3, 8})); });
  ExpectError("theta must be positive", [] { Rope(at::randn({1, 2, 3, 8}), 0, 0.0); });
  ExpectError("floating point", [] { Rope(at::ones({1, 2, 3, 8}, at::kLong)); });
}

// Calls the schemas as Python and TorchScript do.
TEST(Library, CallsTheSameFunctions) {
  const at::Tensor x = at::randn({2, 3, 4, 8}), gain = at::randn({8});
  const auto call = [](const char* name, std::vector<c10::IValue> inputs,
                       const std::unordered_map<std::string, c10::IValue>& named) {
    const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
    op.schema().checkAndNormalizeInputs(inputs, named);
    op.callBoxed(&inputs);
    return inputs;
  };
  EXPECT_TRUE(call("tra::rms_norm", {x, gain}, {{"eps", 1e-3}})[0].toTensor().equal(RmsNorm(x, gain, 1e-3)));
  const auto added = call("tra::add_rms_norm", {x, x, gain}, {});
  EXPECT_TRUE(added[0].toTensor().equal(x + x));
  EXPECT_TRUE(added[1].toTensor().equal(RmsNorm(x + x, gain)));
  EXPECT_TRUE(call("tra::swiglu", {x}, {{"dropout_p", 0.5}, {"seed", 3}})[0].toTensor().equal(SwiGlu(x, 0.5, 3)));
  EXPECT_TRUE(call("tra::dropout", {x}, {{"p", 0.5}, {"seed", 3}})[0].toTensor().equal(Dropout(x, 0.5, 3)));
  EXPECT_TRUE(call("tra::rope", {x}, {{"first_position", 3}})[0].toTensor().equal(Rope(x, 3)));
}

}  // namespace
}  // namespace tra
