#include "tra/ops/cross_entropy.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>
#include <string>

namespace tra {
namespace {

struct Problem {
  at::Tensor hidden, weight, targets;

  Problem As(at::ScalarType dtype) const {
    const auto leaf = [&](const at::Tensor& x) { return x.detach().to(dtype).clone().set_requires_grad(true); };
    return {leaf(hidden), leaf(weight), targets};
  }
};

// Draws a problem with hidden [2, positions, 24], in which this share of the targets is ignored.
Problem Draw(int64_t positions, int64_t vocabulary, double ignored) {
  at::manual_seed(positions * 100000 + vocabulary);
  const at::Tensor hidden = at::randn({2, positions, 24}), weight = at::randn({vocabulary, 24}) * 0.3;
  const at::Tensor targets = at::randint(vocabulary, {2, positions}, at::kLong);
  const Problem problem{hidden, weight, targets.masked_fill(at::rand({2, positions}) < ignored, kIgnore)};
  return problem.As(at::kFloat);
}

std::vector<at::Tensor> Gradients(const at::Tensor& loss, const Problem& problem) {
  return torch::autograd::grad({loss}, {problem.hidden, problem.weight});
}

void ExpectNear(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  ASSERT_EQ(a.sizes(), b.sizes());
  const at::Tensor error = (a.to(at::kDouble) - b.to(at::kDouble)).abs();
  EXPECT_LE(error.numel() == 0 ? 0.0 : error.max().item<double>(), tolerance);
}

// A logit, a sum of 24 products of size 0.3, is off by about 1e-7, and so is its probability, relative to itself. The
// gradients are sums of these times weight or hidden: over probabilities that add up to 1, and over 40 positions.
constexpr double kHiddenTolerance = 2e-6, kWeightTolerance = 1e-5;

void ExpectSameGradients(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want) {
  ExpectNear(got[0], want[0], kHiddenTolerance);
  ExpectNear(got[1], want[1], kWeightTolerance);
}

TEST(LinearCrossEntropy, MatchesComposedInFloat64WithGradients) {
  for (const int64_t vocabulary : {1, 2, 6, 97, 50257}) {
    for (const double ignored : {0.0, 0.4}) {
      const Problem narrow = Draw(20, vocabulary, ignored), wide = narrow.As(at::kDouble);
      const CrossEntropySum got = LinearCrossEntropy(narrow.hidden, narrow.weight, narrow.targets);
      const CrossEntropySum want = LinearCrossEntropy(wide.hidden, wide.weight, wide.targets);
      EXPECT_EQ(got.supervised, want.supervised);
      EXPECT_EQ(got.supervised, narrow.targets.ge(0).sum().item<int64_t>());
      EXPECT_EQ(got.correct, want.correct);
      EXPECT_EQ(got.loss.dim(), 0);
      EXPECT_EQ(got.loss.scalar_type(), at::kFloat);
      const double loss = want.loss.item<double>();
      EXPECT_NEAR(got.loss.item<double>(), loss, 1e-6 * loss) << vocabulary;
      ExpectSameGradients(Gradients(got.loss, narrow), Gradients(want.loss, wide));
    }
  }
}

TEST(LinearCrossEntropy, ComposedMatchesTorch) {
  const Problem problem = Draw(30, 11, 0.3).As(at::kDouble);
  const CrossEntropySum got = LinearCrossEntropyComposed(problem.hidden, problem.weight, problem.targets);
  const at::Tensor logits = at::matmul(problem.hidden, problem.weight.t()).reshape({60, 11});
  const at::Tensor targets = problem.targets.reshape({60});
  const at::Tensor want = at::cross_entropy_loss(logits, targets, {}, at::Reduction::Sum, kIgnore);
  ExpectNear(got.loss, want, 1e-12);
  EXPECT_EQ(got.correct, (logits.argmax(-1) == targets).sum().item<int64_t>());
  EXPECT_GT(got.correct, 0);
  const std::vector<at::Tensor> a = Gradients(got.loss, problem), b = Gradients(want, problem);
  for (size_t i = 0; i < a.size(); ++i) ExpectNear(a[i], b[i], 1e-12);
}

TEST(LinearCrossEntropy, GradientIsTheSlopeOfTheLoss) {
  const Problem problem = Draw(20, 97, 0.4);
  const auto loss = [&](const at::Tensor& hidden, const at::Tensor& weight) {
    return LinearCrossEntropy(hidden, weight, problem.targets).loss;
  };
  const std::vector<at::Tensor> slope = Gradients(loss(problem.hidden, problem.weight), problem);
  const c10::NoGradGuard no_grad;
  const at::Tensor hidden = at::randn_like(problem.hidden), weight = at::randn_like(problem.weight);
  const auto moved = [&](double by) {
    return loss(problem.hidden + by * hidden, problem.weight + by * weight).item<double>();
  };
  // A step of 0.01 changes the loss of about 100, known to 1e-5, by about 1; the third derivative causes the rest of
  // the error.
  const double want = (slope[0] * hidden).sum().item<double>() + (slope[1] * weight).sum().item<double>();
  EXPECT_NEAR((moved(0.01) - moved(-0.01)) / 0.02, want, 0.01 * std::abs(want));
}

TEST(LinearCrossEntropy, ChunksOfAnySizeGiveTheSame) {
  for (const double ignored : {0.0, 0.4}) {
    const Problem problem = Draw(20, 97, ignored);
    const auto run = [&](int64_t logits_bytes) {
      return LinearCrossEntropy(problem.hidden, problem.weight, problem.targets, logits_bytes);
    };
    const CrossEntropySum whole = run(kLogitsBytes);
    const std::vector<at::Tensor> whole_gradients = Gradients(whole.loss, problem);
    for (const int64_t rows : {0, 1, 7, 39}) {
      const CrossEntropySum chunked = run(rows * 97 * 4);
      EXPECT_NEAR(chunked.loss.item<double>() / whole.loss.item<double>(), 1.0, 1e-6);
      EXPECT_EQ(chunked.correct, whole.correct);
      ExpectSameGradients(Gradients(chunked.loss, problem), whole_gradients);
    }
  }
}

TEST(LinearCrossEntropy, UnsupervisedPositionsCountForNothingWhateverTheyHold) {
  const Problem problem = Draw(20, 6, 0.4);
  const at::Tensor out = problem.targets < 0;
  const at::Tensor spoiled =
      problem.hidden.detach().masked_fill(out.unsqueeze(-1), std::nan("")).set_requires_grad(true);
  // Any negative target means the same.
  const CrossEntropySum got = LinearCrossEntropy(spoiled, problem.weight, problem.targets.masked_fill(out, -1));
  const CrossEntropySum want = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
  EXPECT_TRUE(got.loss.equal(want.loss));
  const std::vector<at::Tensor> a = torch::autograd::grad({got.loss}, {spoiled, problem.weight});
  const std::vector<at::Tensor> b = Gradients(want.loss, problem);
  EXPECT_TRUE(a[0].equal(b[0]));
  EXPECT_TRUE(a[1].equal(b[1]));
  EXPECT_EQ(a[0].index({out}).abs().max().item<float>(), 0.0f);
  EXPECT_GT(a[0].index({out.logical_not()}).abs().max().item<float>(), 0.0f);
}

TEST(LinearCrossEntropy, NothingSupervisedIsALossOfZeroWithZeroGradients) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const int64_t positions : {0, 5}) {
      const Problem problem = Draw(positions, 6, 2.0).As(dtype);
      const CrossEntropySum sum = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
      EXPECT_EQ(sum.loss.item<double>(), 0.0);
      EXPECT_EQ(sum.supervised, 0);
      EXPECT_EQ(sum.correct, 0);
      const std::vector<at::Tensor> gradients = Gradients(sum.loss, problem);
      EXPECT_TRUE(gradients[0].equal(at::zeros_like(problem.hidden)));
      EXPECT_TRUE(gradients[1].equal(at::zeros_like(problem.weight)));
    }
  }
}

TEST(LinearCrossEntropy, IncomingGradientsScaleEveryBackward) {
  const Problem problem = Draw(20, 6, 0.4);
  const at::Tensor loss = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets).loss;
  const auto backward = [&](double by) {
    loss.backward(at::scalar_tensor(by), /*retain_graph=*/true);
    return std::vector<at::Tensor>{problem.hidden.grad().clone(), problem.weight.grad().clone()};
  };
  const std::vector<at::Tensor> once = backward(1.0), with_half = backward(0.5), with_one = backward(1.0);
  for (size_t i = 0; i < once.size(); ++i) {
    ExpectNear(with_half[i], once[i] * 1.5, kWeightTolerance);
    ExpectNear(with_one[i], once[i] * 2.5, kWeightTolerance);  // the first one did not add to what was saved
  }
}

TEST(LinearCrossEntropy, EitherGradientAloneIsTheSameAsWithTheOther) {
  const Problem problem = Draw(20, 6, 0.4);
  const CrossEntropySum both = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
  const std::vector<at::Tensor> want = Gradients(both.loss, problem);
  const at::Tensor hidden = problem.hidden.detach(), weight = problem.weight.detach();
  const at::Tensor of_weight = LinearCrossEntropy(hidden, problem.weight, problem.targets).loss;
  EXPECT_TRUE(torch::autograd::grad({of_weight}, {problem.weight})[0].equal(want[1]));
  const at::Tensor of_hidden = LinearCrossEntropy(problem.hidden, weight, problem.targets).loss;
  EXPECT_TRUE(torch::autograd::grad({of_hidden}, {problem.hidden})[0].equal(want[0]));
  EXPECT_FALSE(LinearCrossEntropy(hidden, weight, problem.targets).loss.requires_grad());
  const c10::NoGradGuard no_grad;
  const CrossEntropySum none = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
  EXPECT_FALSE(none.loss.requires_grad());
  EXPECT_TRUE(none.loss.equal(both.loss));
  EXPECT_EQ(none.correct, both.correct);
}

TEST(LinearCrossEntropy, StridedInputsGiveTheSame) {
  const Problem problem = Draw(20, 6, 0.4);
  const at::Tensor hidden =
      problem.hidden.detach().transpose(0, 1).contiguous().transpose(0, 1).set_requires_grad(true);
  const at::Tensor weight = problem.weight.detach().t().contiguous().t().set_requires_grad(true);
  const at::Tensor targets = problem.targets.t().contiguous().t();
  ASSERT_FALSE(hidden.is_contiguous() || weight.is_contiguous() || targets.is_contiguous());
  const CrossEntropySum got = LinearCrossEntropy(hidden, weight, targets);
  const CrossEntropySum want = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
  EXPECT_NEAR(got.loss.item<double>() / want.loss.item<double>(), 1.0, 1e-6);
  ExpectSameGradients(torch::autograd::grad({got.loss}, {hidden, weight}), Gradients(want.loss, problem));
}

TEST(LinearCrossEntropy, NaNReachesTheLoss) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      const Problem problem = Draw(5, 6, 0.0).As(dtype);
      const c10::NoGradGuard no_grad;
      problem.hidden.select(0, 1).select(0, 3).fill_(bad);
      EXPECT_TRUE(std::isnan(LinearCrossEntropy(problem.hidden, problem.weight, problem.targets).loss.item<double>()));
      const PositionLosses each = TokenLosses(problem.hidden, problem.weight, problem.targets);
      EXPECT_EQ(each.losses.isnan().sum().item<int64_t>(), 1);
      EXPECT_TRUE(std::isnan(each.losses.select(0, 1).select(0, 3).item<double>()));
    }
  }
}

TEST(LinearCrossEntropy, HalfPrecisionIsSummedInSingle) {
  const Problem problem = Draw(20, 97, 0.4).As(at::kBFloat16), wide = problem.As(at::kDouble);
  const CrossEntropySum got = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
  EXPECT_EQ(got.loss.scalar_type(), at::kFloat);
  const double want = LinearCrossEntropy(wide.hidden, wide.weight, wide.targets).loss.item<double>();
  EXPECT_NEAR(got.loss.item<double>(), want, 1e-5 * want);  // in bfloat16 it would be off by 4e-3
  EXPECT_EQ(Gradients(got.loss, problem)[1].scalar_type(), at::kBFloat16);
}

TEST(LinearCrossEntropy, ThreadsDoNotChangeBits) {
  // With one channel a logit is one product, which torch cannot add up in another order for other numbers of threads.
  at::manual_seed(1);
  const c10::NoGradGuard no_grad;
  const at::Tensor hidden = at::randn({500, 1}), weight = at::randn({997, 1});
  const at::Tensor targets = at::randint(997, {500}, at::kLong);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = LinearCrossEntropy(hidden, weight, targets).loss;
  for (const int many : {2, 3}) {
    at::set_num_threads(many);
    EXPECT_TRUE(LinearCrossEntropy(hidden, weight, targets).loss.equal(one));
  }
  at::set_num_threads(threads);
}

TEST(TokenLosses, AreTheTermsOfTheSum) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const double ignored : {0.0, 0.4, 2.0}) {
      const Problem problem = Draw(20, 6, ignored).As(dtype);
      const CrossEntropySum sum = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets);
      const PositionLosses each = TokenLosses(problem.hidden, problem.weight, problem.targets, 7 * 6 * 4);
      EXPECT_EQ(each.losses.sizes(), problem.targets.sizes());
      EXPECT_EQ(each.losses.scalar_type(), at::kDouble);
      EXPECT_FALSE(each.losses.requires_grad());
      EXPECT_NEAR(each.losses.sum().item<double>(), sum.loss.item<double>(), 1e-6 * sum.loss.item<double>());
      EXPECT_EQ(each.correct.sum().item<int64_t>(), sum.correct);
      EXPECT_EQ((each.losses != 0).sum().item<int64_t>(), sum.supervised);
      EXPECT_FALSE(at::logical_or(each.losses != 0, each.correct).index({problem.targets < 0}).any().item<bool>());
    }
  }
}

TEST(TokenLosses, StandWhereTheirTargetsStand) {
  const Problem problem = Draw(20, 6, 0.4), wide = problem.As(at::kDouble);
  const PositionLosses got = TokenLosses(problem.hidden, problem.weight, problem.targets);
  const PositionLosses want = TokenLosses(wide.hidden, wide.weight, wide.targets);
  ExpectNear(got.losses, want.losses, 1e-5);
  EXPECT_TRUE(got.correct.equal(want.correct));
}

void ExpectError(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets, const char* part) {
  try {
    LinearCrossEntropy(hidden, weight, targets);
    FAIL() << "accepted: " << part;
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(LinearCrossEntropy, ErrorsNameWhatIsWrong) {
  const Problem x = Draw(5, 6, 0.0);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const Problem typed = x.As(dtype);
    ExpectError(typed.hidden, typed.weight, x.targets.masked_fill(x.targets == x.targets.max(), 6),
                "target 6 is not one of the 6 rows of weight");
  }
  ExpectError(x.hidden, x.weight, x.targets.narrow(1, 0, 3), "targets [2, 3]");
  ExpectError(x.hidden, x.weight.narrow(1, 0, 7), x.targets, "weight [6, 7]");
  ExpectError(x.hidden, x.weight, x.targets.to(at::kInt), ".to(torch.int64)");
  ExpectError(x.hidden, x.weight.to(at::kDouble), x.targets, ".to(weight.dtype)");
  ExpectError(x.hidden, x.weight.narrow(0, 0, 0), x.targets, "weight must be [vocabulary, channel]");
}

TEST(LinearCrossEntropy, NoSecondDerivativeIsAnErrorNotAZero) {
  const Problem problem = Draw(5, 6, 0.0);
  const at::Tensor loss = LinearCrossEntropy(problem.hidden, problem.weight, problem.targets).loss;
  EXPECT_THROW(torch::autograd::grad({loss}, {problem.hidden}, {}, /*retain_graph=*/true, /*create_graph=*/true),
               c10::Error);
}

}  // namespace
}  // namespace tra
