#include "tra/ops/error_message.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <stdexcept>

#include "tra/ops/attention.h"
#include "tra/ops/rms_norm.h"

namespace tra {
namespace {

// Runs something that must throw, and says whether the error is one of bad input.
bool ThrowsBadInput(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& error) {
    EXPECT_EQ(ErrorMessage(error).find("Exception raised from"), std::string::npos) << ErrorMessage(error);
    return IsBadInput(error);
  }
  ADD_FAILURE() << "nothing was thrown";
  return false;
}

TEST(Errors, WhatTheCallerMustChangeIsBadInput) {
  EXPECT_TRUE(ThrowsBadInput([] { throw std::invalid_argument("a value"); }));
  EXPECT_TRUE(ThrowsBadInput([] { RmsNorm(at::ones({2, 3}), at::ones({4})); }));
  AttentionOptions options;
  options.rule = ScoreRule::kSoftmax;
  const at::Tensor q = at::ones({1, 2, 3, 4});
  EXPECT_TRUE(ThrowsBadInput([&] { Attention(q, q, at::ones({1, 2, 2, 4}), {}, options); }));
  options.dropout_p = 2.0f;
  EXPECT_TRUE(ThrowsBadInput([&] { Attention(q, q, q, {}, options); }));
}

TEST(Errors, EverythingElseIsAFailure) {
  EXPECT_FALSE(ThrowsBadInput([] { throw std::runtime_error("a file"); }));
  EXPECT_FALSE(ThrowsBadInput([] {
    const at::Tensor x = at::ones({2, 3}).requires_grad_();
    const at::Tensor y = RmsNorm(x, at::ones({3}));
    const at::Tensor d_x = torch::autograd::grad({y.sum()}, {x}, {}, true, /*create_graph=*/true)[0];
  }));
}

}  // namespace
}  // namespace tra
