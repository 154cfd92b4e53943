#include "tra/ops/product.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>

namespace tra {
namespace {

double Worst(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return a.numel() == 0 ? 0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

// Returns matrices of this shape, equal or not, that lie in memory in different ways.
std::vector<at::Tensor> Layouts(int64_t rows, int64_t columns) {
  return {at::randn({rows, columns}),
          at::randn({columns, rows}).t(),
          at::randn({rows, columns + 5}).narrow(1, 3, columns),
          at::randn({columns, rows + 2}).narrow(1, 1, rows).t(),
          at::randn({rows, 2 * columns}).slice(1, 0, 2 * columns, 2),
          at::randn({1, columns}).expand({rows, columns})};
}

TEST(Multiply, EqualsFloat64InEveryLayout) {
  at::manual_seed(1);
  const int64_t shapes[][3] = {{1, 1, 1},    {1, 7, 5},    {9, 1, 4},   {6, 3, 1},     {17, 33, 65},
                               {130, 4, 64}, {64, 64, 64}, {3, 300, 2}, {257, 128, 31}};
  for (const auto& [m, k, n] : shapes) {
    for (const at::Tensor& a : Layouts(m, k)) {
      for (const at::Tensor& b : Layouts(k, n)) {
        const at::Tensor want = at::mm(a.to(at::kDouble), b.to(at::kDouble));
        const double bound = 1e-5 * std::sqrt(static_cast<double>(k)) * 3;
        // What is overwritten may have been anything.
        const at::Tensor set = at::full({m, n}, std::numeric_limits<float>::quiet_NaN());
        Multiply(set, a, b);
        EXPECT_LT(Worst(set, want), bound) << m << " " << k << " " << n;
        // Its neighbours in a wider matrix stay as they are.
        const at::Tensor wide = at::ones({m, n + 4});
        Multiply(wide.narrow(1, 2, n), a, b, Into::kAdd);
        EXPECT_LT(Worst(wide.narrow(1, 2, n), want + 1), bound) << m << " " << k << " " << n;
        EXPECT_TRUE(wide.narrow(1, 0, 2).equal(at::ones({m, 2})));
        EXPECT_TRUE(wide.narrow(1, n + 2, 2).equal(at::ones({m, 2})));
      }
    }
  }
}

TEST(Multiply, NothingToAddLeavesOrClearsTheSum) {
  const at::Tensor out = at::ones({2, 3});
  Multiply(out, at::empty({2, 0}), at::empty({0, 3}), Into::kAdd);
  EXPECT_EQ(out.sum().item<float>(), 6);
  Multiply(out, at::empty({2, 0}), at::empty({0, 3}));
  EXPECT_EQ(out.sum().item<float>(), 0);
  Multiply(at::empty({0, 3}), at::empty({0, 4}), at::ones({4, 3}));
}

TEST(ApplyLinear, EqualsFloat64WithGradients) {
  at::manual_seed(2);
  for (const bool with_bias : {false, true}) {
    for (const std::vector<int64_t>& leading :
         {std::vector<int64_t>{}, std::vector<int64_t>{3}, std::vector<int64_t>{2, 5}, std::vector<int64_t>{2, 0}}) {
      std::vector<int64_t> shape = leading;
      shape.push_back(12);
      std::vector<at::Tensor> leaves = {at::randn(shape), at::randn({7, 12})};
      if (with_bias) leaves.push_back(at::randn({7}));
      for (at::Tensor& each : leaves) each.set_requires_grad(true);
      const at::Tensor got = ApplyLinear(leaves[0], leaves[1], with_bias ? leaves[2] : at::Tensor());
      at::Tensor want = at::matmul(leaves[0].to(at::kDouble), leaves[1].to(at::kDouble).t());
      if (with_bias) want = want + leaves[2].to(at::kDouble);
      EXPECT_LT(Worst(got, want), 1e-5);
      const at::Tensor mix = at::randn(want.sizes());
      const auto a = torch::autograd::grad({(got * mix).sum()}, leaves);
      const auto b = torch::autograd::grad({(want * mix).sum()}, leaves);
      for (size_t i = 0; i < a.size(); ++i) EXPECT_LT(Worst(a[i], b[i]), 1e-5) << i;
    }
  }
}

TEST(ApplyLinear, AddsTheBiasToRowsOfEveryPart) {
  const at::Tensor weight = at::randn({1024, 12}), bias = at::randn({1024});
  for (const at::Tensor& x : {at::randn({300, 12}), at::randn({12, 300}).t(), at::randn({129, 12})}) {
    const at::Tensor want = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t()) + bias;
    EXPECT_LT(Worst(ApplyLinear(x, weight, bias), want), 1e-5) << x.sizes();
  }
}

TEST(ApplyLinear, ComputesOnlyTheGradientsThatAreWanted) {
  const at::Tensor x = at::randn({4, 3}), weight = at::randn({2, 3}).set_requires_grad(true);
  ApplyLinear(x, weight).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_LT(Worst(weight.grad(), x.sum(0).expand({2, 3})), 1e-5);
}

TEST(ApplyLinear, HasASecondDerivative) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({4, 3}).set_requires_grad(true), weight = at::randn({2, 3}).set_requires_grad(true);
  const at::Tensor first =
      torch::autograd::grad({ApplyLinear(x, weight).square().sum()}, {x}, {}, true, /*create_graph=*/true)[0];
  const at::Tensor got = torch::autograd::grad({first.square().sum()}, {weight})[0];
  const at::Tensor also =
      torch::autograd::grad({at::linear(x, weight).square().sum()}, {x}, {}, true, /*create_graph=*/true)[0];
  EXPECT_LT(Worst(got, torch::autograd::grad({also.square().sum()}, {weight})[0]), 1e-3);
}

TEST(ApplyLinear, OtherTypesGoToLibTorch) {
  const at::Tensor x = at::randn({4, 3}, at::kDouble), weight = at::randn({2, 3}, at::kDouble);
  EXPECT_EQ(ApplyLinear(x, weight).scalar_type(), at::kDouble);
  EXPECT_TRUE(
      ApplyLinear(x, weight, at::ones({2}, at::kDouble)).equal(at::linear(x, weight, at::ones({2}, at::kDouble))));
}

TEST(ApplyLinear, ErrorsShowTheShapes) {
  const at::Tensor x = at::zeros({4, 3}), weight = at::zeros({2, 3});
  EXPECT_THROW(ApplyLinear(x, at::zeros({2, 4})), c10::ValueError);
  EXPECT_THROW(ApplyLinear(x, weight.to(at::kDouble)), c10::ValueError);
  EXPECT_THROW(ApplyLinear(x, weight, at::zeros({3})), c10::ValueError);
}

}  // namespace
}  // namespace tra
