#include "tra/ops/adamw.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tra {
namespace {

// Draws two matrices, and two vectors that form another group.
std::vector<at::Tensor> Draw(at::ScalarType dtype = at::kFloat) {
  at::manual_seed(7);
  std::vector<at::Tensor> parameters = {at::randn({40, 33}), at::randn({1, 1}), at::randn({33}), at::randn({7})};
  for (at::Tensor& each : parameters) each = each.to(dtype).set_requires_grad(true);
  return parameters;
}

constexpr double kDecay = 0.1, kNoDecay = 0.0;

AdamW Optimizer(const std::vector<at::Tensor>& x, bool zero_grad = false) {
  AdamW::Options options;
  options.beta2 = 0.95;
  options.zero_grad = zero_grad;
  return AdamW({{{x[0], x[1]}, kDecay}, {{x[2], x[3]}, kNoDecay}}, options);
}

torch::optim::AdamW TorchOptimizer(const std::vector<at::Tensor>& x) {
  const auto group = [](std::vector<at::Tensor> parameters, double weight_decay) {
    auto options = std::make_unique<torch::optim::AdamWOptions>();
    options->betas({0.9, 0.95}).weight_decay(weight_decay);
    return torch::optim::OptimizerParamGroup(std::move(parameters), std::move(options));
  };
  return torch::optim::AdamW({group({x[0], x[1]}, kDecay), group({x[2], x[3]}, kNoDecay)});
}

// Computes gradients that depend on the parameters, so that a wrong step shows in later ones.
void Backward(const std::vector<at::Tensor>& x, int step) {
  at::Tensor loss = (at::matmul(x[0], x[2]) + x[1] + 0.1 * step).square().mean();
  if (step % 3 != 1) loss = loss + (x[3] - step).cos().sum();  // every third step one parameter has no gradient
  loss.backward();
}

double LrAt(int step) { return 0.01 * (step + 1); }

void ExpectNear(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b, double tolerance) {
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_LT((a[i].detach() - b[i].detach()).abs().max().item<double>(), tolerance) << "parameter " << i;
  }
}

void ExpectEqual(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << "parameter " << i;
}

void ExpectParityWithTorch(at::ScalarType dtype, double tolerance) {
  const std::vector<at::Tensor> ours = Draw(dtype), theirs = Draw(dtype);
  AdamW optimizer = Optimizer(ours);
  torch::optim::AdamW torch_optimizer = TorchOptimizer(theirs);
  for (int step = 0; step < 20; ++step) {
    Backward(ours, step);
    Backward(theirs, step);
    for (auto& group : torch_optimizer.param_groups()) group.options().set_lr(LrAt(step));
    optimizer.Step(LrAt(step));
    torch_optimizer.step();
    optimizer.ZeroGrad();
    for (const at::Tensor& each : theirs) each.mutable_grad().reset();
    ExpectNear(ours, theirs, tolerance);
  }
  ExpectNear({ours[0]}, {Draw(dtype)[0]}, 10);
  EXPECT_GT((ours[0] - Draw(dtype)[0]).abs().max().item<double>(), 0.5);  // the parameters moved
  EXPECT_EQ(optimizer.States()[0].step, 20);
  EXPECT_EQ(optimizer.States()[3].step, 13);
}

TEST(AdamW, TwentyStepsAreThoseOfTorch) {
  // Parameters of size 3 are off by a few 2^-24, and so are the directions of steps of up to 0.2.
  ExpectParityWithTorch(at::kFloat, 1e-5);
}

TEST(AdamW, TwentyComposedStepsAreThoseOfTorch) { ExpectParityWithTorch(at::kDouble, 1e-12); }

TEST(AdamW, GradScaleIsAppliedToTheGradients) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const std::vector<at::Tensor> scaled = Draw(dtype), plain = Draw(dtype);
    AdamW of_scaled = Optimizer(scaled), of_plain = Optimizer(plain);
    for (int step = 0; step < 3; ++step) {
      Backward(scaled, step);
      Backward(plain, step);
      for (const at::Tensor& each : plain) {
        if (each.grad().defined()) each.grad().mul_(0.25);  // exact
      }
      of_scaled.Step(0.1, 0.25);
      of_plain.Step(0.1);
      ExpectEqual(scaled, plain);
      of_scaled.ZeroGrad();
      of_plain.ZeroGrad();
    }
  }
}

TEST(AdamW, ZeroGradInTheStepIsTheSameAsAfterIt) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const std::vector<at::Tensor> within = Draw(dtype), after = Draw(dtype);
    AdamW of_within = Optimizer(within, true), of_after = Optimizer(after);
    for (int step = 0; step < 3; ++step) {
      Backward(within, 0);
      Backward(after, 0);
      of_within.Step(0.1);
      of_after.Step(0.1);
      of_after.ZeroGrad();
      ExpectEqual(within, after);
      for (const at::Tensor& each : within) EXPECT_EQ(each.grad().abs().max().item<double>(), 0.0);
      for (const at::Tensor& each : after) EXPECT_FALSE(each.grad().defined());
    }
  }
}

TEST(AdamW, GradientsMayHaveOtherStridesThanTheirParameter) {
  const at::Tensor a = at::ones({5, 3}).set_requires_grad(true), b = at::ones({5, 3}).set_requires_grad(true);
  const at::Tensor grad = at::arange(15, at::kFloat).view({3, 5}).t();
  a.mutable_grad() = grad.clone();  // keeps the strides
  b.mutable_grad() = grad.contiguous();
  ASSERT_FALSE(a.grad().is_contiguous());
  AdamW::Options options;
  options.zero_grad = true;
  AdamW of_a({{{a}, 0.1}}, options), of_b({{{b}, 0.1}}, options);
  EXPECT_EQ(of_a.GradNorm(), of_b.GradNorm());
  of_a.Step(0.1, 0.5);
  of_b.Step(0.1, 0.5);
  EXPECT_TRUE(a.equal(b));
  EXPECT_EQ(a.grad().abs().max().item<float>(), 0.0f);
  // Parameters need not be contiguous either.
  const at::Tensor c = at::ones({3, 5}).t().set_requires_grad(true);
  c.mutable_grad() = grad.clone();
  AdamW({{{c}, 0.1}}).Step(0.1, 0.5);
  EXPECT_LT((c - b).abs().max().item<float>(), 1e-6f);
}

TEST(AdamW, GradNormIsThatOfAllGradientsAsOneVector) {
  const std::vector<at::Tensor> x = Draw();
  const at::Tensor wide = at::randn({9}, at::kDouble).set_requires_grad(true);
  AdamW optimizer({{{x[0], x[1], wide}, 0.0}, {{x[2], x[3]}, 0.0}});
  EXPECT_EQ(optimizer.GradNorm(), 0.0);  // without gradients
  Backward(x, 1);                        // none for x[3]
  (wide * wide).sum().backward();
  double squares = 0;
  for (const at::Tensor& each : {x[0], x[1], x[2], wide}) {
    squares += each.grad().to(at::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(optimizer.GradNorm(), std::sqrt(squares), 1e-12 * std::sqrt(squares));
}

TEST(AdamW, GradNormShowsWhatIsNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::vector<at::Tensor> x = Draw();
    Backward(x, 0);
    x[2].grad().select(0, 32).fill_(bad);
    EXPECT_FALSE(std::isfinite(Optimizer(x).GradNorm()));
  }
}

TEST(AdamW, StepsGoOnFromLoadedStatesWithTheSameBits) {
  const std::vector<at::Tensor> x = Draw();
  AdamW optimizer = Optimizer(x);
  const auto step = [](AdamW& which, const std::vector<at::Tensor>& parameters, int at) {
    Backward(parameters, at);
    which.Step(0.1);
    which.ZeroGrad();
  };
  step(optimizer, x, 1);  // x[3] is not stepped yet
  const std::vector<at::Tensor> y = Draw();
  {
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < x.size(); ++i) y[i].copy_(x[i]);
  }
  AdamW resumed = Optimizer(y);
  resumed.LoadStates(optimizer.States());
  for (int at = 2; at < 5; ++at) {
    step(optimizer, x, at);
    step(resumed, y, at);  // would not match if both stepped the same moments
  }
  ExpectEqual(x, y);
}

TEST(AdamW, ThreadsDoNotChangeBits) {
  const int threads = at::get_num_threads();
  std::vector<at::Tensor> results;
  std::vector<double> norms;
  for (const int many : {1, 2, 3}) {
    at::set_num_threads(many);
    at::manual_seed(3);
    const at::Tensor x = at::randn({100001}).set_requires_grad(true);
    x.mutable_grad() = at::randn({100001});
    AdamW optimizer({{{x}, 0.1}});
    norms.push_back(optimizer.GradNorm());
    optimizer.Step(0.1);
    results.push_back(x);
  }
  at::set_num_threads(threads);
  for (const size_t i : {1, 2}) {
    EXPECT_TRUE(results[i].equal(results[0]));
    EXPECT_EQ(norms[i], norms[0]);
  }
}

TEST(AdamW, ABackwardThroughTheOldValuesIsRefused) {
  const at::Tensor x = at::ones({3}).set_requires_grad(true);
  const at::Tensor loss = x.square().sum();
  loss.backward({}, /*retain_graph=*/true);
  AdamW({{{x}, 0.0}}).Step(0.1);
  EXPECT_THROW(loss.backward(), c10::Error);
}

template <typename Body>
void ExpectError(const char* part, const Body& body) {
  try {
    body();
    FAIL() << "accepted: " << part;
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(AdamW, ErrorsNameTheRemedy) {
  const std::vector<at::Tensor> x = Draw();
  ExpectError("list tied parameters once", [&] { AdamW({{{x[0]}, 0.0}, {{x[0]}, 0.1}}); });
  ExpectError("must be a leaf", [&] { AdamW({{{x[0] * 2}, 0.0}}); });
  ExpectError("floating point", [&] { AdamW({{{at::ones({2}, at::kLong)}, 0.0}}); });
  AdamW optimizer = Optimizer(x);
  ExpectError("skip the step", [&] { optimizer.Step(0.1, std::nan("")); });
  ExpectError("lr must be finite", [&] { optimizer.Step(std::nan("")); });
  ExpectError("3 states for 4 parameters", [&] { optimizer.LoadStates(std::vector<AdamW::State>(3)); });
  std::vector<AdamW::State> states(4);
  states[1] = {5, at::zeros({2}), at::zeros({2})};
  ExpectError("state 1 is [2] but its parameter [1, 1]", [&] { optimizer.LoadStates(states); });
  states[1] = {5, at::zeros({1, 1}), at::Tensor()};
  ExpectError("state 1 has 5 steps but no moment", [&] { optimizer.LoadStates(states); });
}

}  // namespace
}  // namespace tra
