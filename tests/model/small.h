// Makes small models and random tokens for the tests.
#ifndef TRA_TESTS_MODEL_SMALL_H_
#define TRA_TESTS_MODEL_SMALL_H_

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tra/model/attention/variants.h"
#include "tra/model/decoder.h"

namespace tra::testing {

inline ModelConfig SmallConfig(const std::string& attention) {
  ModelConfig config;
  config.attention = attention;
  config.vocabulary = 11;
  config.layers = 2;
  config.heads = 2;
  config.width = 32;
  config.train_length = 16;
  config.max_length = 128;
  config.cope_positions = 8;
  return config;
}

// Makes a model with weights so large that attention matters: as initialised, all nine variants are nearly the same
// function.
inline std::shared_ptr<Decoder> SmallModel(const ModelConfig& config, uint64_t seed = 1) {
  auto model = std::make_shared<Decoder>(config, seed);
  const c10::NoGradGuard no_grad;
  at::manual_seed(seed);
  for (const at::Tensor& each : model->parameters()) {
    each.add_(at::randn_like(each), each.dim() == 2 ? 2.0 / std::sqrt(static_cast<double>(each.size(1))) : 0.3);
  }
  model->eval();
  return model;
}
inline std::shared_ptr<Decoder> SmallModel(const std::string& attention) { return SmallModel(SmallConfig(attention)); }

inline at::Tensor RandomTokens(int64_t batch, int64_t length, int64_t vocabulary = 11, uint64_t seed = 5) {
  at::manual_seed(seed);
  return at::randint(vocabulary, {batch, length}, at::kLong);
}

inline double MaxDifference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

inline std::vector<std::string> VariantNames() {
  std::vector<std::string> names;
  for (const Variant& each : Variants()) names.emplace_back(each.name);
  return names;
}

// TEST_P runs once for each row of the table of variants.
class EveryVariant : public ::testing::TestWithParam<std::string> {};

#define TRA_FOR_EVERY_VARIANT(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(All, suite, ::testing::ValuesIn(::tra::testing::VariantNames()), \
                           [](const auto& info) { return info.param; })

}  // namespace tra::testing

#endif  // TRA_TESTS_MODEL_SMALL_H_
