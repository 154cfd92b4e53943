#include "tra/ops/project.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace tra {
namespace {

struct Layer {
  at::Tensor x;
  std::vector<at::Tensor> weights, biases;

  std::vector<at::Tensor> Leaves() const {
    std::vector<at::Tensor> leaves = {x};
    leaves.insert(leaves.end(), weights.begin(), weights.end());
    for (const at::Tensor& bias : biases) {
      if (bias.defined()) leaves.push_back(bias);
    }
    return leaves;
  }
};

Layer Draw(int64_t batch, int64_t length) {
  at::manual_seed(1);
  const auto leaf = [](at::IntArrayRef shape) { return at::randn(shape).set_requires_grad(true); };
  return {leaf({batch, length, 24}), {leaf({24, 24}), leaf({7, 24}), leaf({1, 24})}, {{}, leaf({7}), leaf({1})}};
}

// Computes the Linears one by one, by tensor operations in float64.
std::vector<at::Tensor> Apart(const Layer& layer) {
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    at::Tensor y = at::matmul(layer.x.to(at::kDouble), layer.weights[i].to(at::kDouble).t());
    if (layer.biases[i].defined()) y = y + layer.biases[i].to(at::kDouble);
    parts.push_back(y);
  }
  return parts;
}

double Worst(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

TEST(Project, EqualsLinearsOneByOneWithGradients) {
  for (const int64_t length : {3, 200}) {  // with few rows Project computes them one by one
    const Layer layer = Draw(2, length);
    const std::vector<at::Tensor> got = Project(layer.x, layer.weights, layer.biases), want = Apart(layer);
    at::Tensor loss = at::zeros({}), wide = at::zeros({}, at::kDouble);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_LT(Worst(got[i], want[i]), 1e-5);
      const at::Tensor mix = at::randn_like(want[i]);
      loss = loss + (got[i] * mix.to(at::kFloat)).sum();
      wide = wide + (want[i] * mix.to(at::kFloat).to(at::kDouble)).sum();
    }
    const auto a = torch::autograd::grad({loss}, layer.Leaves());
    const auto b = torch::autograd::grad({wide}, layer.Leaves());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_LT(Worst(a[i], b[i]), 1e-4) << i;  // sums of 400 terms
  }
}

TEST(Project, AResultThatIsNotUsedCostsNothing) {
  const Layer layer = Draw(2, 200);
  const at::Tensor only = Project(layer.x, layer.weights, layer.biases)[1];
  only.sum().backward();
  EXPECT_FALSE(layer.weights[0].grad().defined());
  EXPECT_TRUE(layer.weights[1].grad().defined());
  EXPECT_LT(Worst(layer.x.grad(), layer.weights[1].sum(0).expand({2, 200, 24})), 1e-5);
}

TEST(Project, OtherTypesAreComposed) {
  Layer layer = Draw(2, 200);
  const at::Tensor x = layer.x.detach().to(at::kDouble);
  std::vector<at::Tensor> weights;
  for (const at::Tensor& each : layer.weights) weights.push_back(each.detach().to(at::kDouble));
  const std::vector<at::Tensor> got = Project(x, weights, {{}, {}, {}});
  EXPECT_EQ(got[0].scalar_type(), at::kDouble);
  EXPECT_LT(Worst(got[2], at::matmul(x, weights[2].t())), 1e-12);
}

TEST(Project, ErrorsShowTheShapes) {
  const Layer layer = Draw(2, 5);
  EXPECT_THROW(Project(layer.x[0], layer.weights, layer.biases), c10::Error);
  EXPECT_THROW(Project(layer.x, {at::zeros({3, 5})}, {{}}), c10::Error);
  EXPECT_THROW(Project(layer.x, layer.weights, {}), c10::Error);
}

}  // namespace
}  // namespace tra
