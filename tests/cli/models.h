// Makes models that are small enough for a test.
#ifndef TESTS_CLI_MODELS_H_
#define TESTS_CLI_MODELS_H_

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "tests/cli/run.h"
#include "tra/model/weights.h"

namespace tra {

inline ModelConfig TinyConfig(const std::string& attention, int64_t vocabulary) {
  ModelConfig config;
  config.attention = attention;
  config.vocabulary = vocabulary;
  config.layers = 2;
  config.heads = 2;
  config.width = 16;
  config.train_length = config.max_length = 24;
  return config;
}

// Makes a model with logits so large that the order of tokens does not depend on rounding.
inline std::shared_ptr<Decoder> TinyModel(const std::string& attention, int64_t vocabulary) {
  auto model = std::make_shared<Decoder>(TinyConfig(attention, vocabulary), 1);
  const c10::NoGradGuard no_grad;
  for (at::Tensor& each : model->parameters()) each.mul_(5);
  model->eval();
  return model;
}

// Makes a model that predicts the same token whatever came before: every position holds ones, and only that token's row
// of the head is not zero.
inline std::shared_ptr<Decoder> StubbornModel(const ModelConfig& config, int64_t token) {
  auto model = std::make_shared<Decoder>(config, 1);
  const c10::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> weights = NamedWeights(*model);
  for (auto& [name, tensor] : weights) tensor.zero_();
  weights.at("embedding").fill_(1);
  weights.at("norm").fill_(1);
  weights.at("head")[token].fill_(1);
  return model;
}

// Trains a run for a few steps; only its shape matters.
inline void TrainTiny(const std::string& path, const std::string& data) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "run.toml") << "[model]\nlayers = 1\nheads = 2\nwidth = 16\n"
                                        << data << R"(
[train]
steps = 2
batch = 2
[eval]
examples = 1
quick_examples = 1
windows = [8]
)";
  const Result result = RunTra("train " + (directory / "run.toml") + " --quiet --run " + path);
  ASSERT_EQ(result.code, 0) << result.err;
}

}  // namespace tra

#endif  // TESTS_CLI_MODELS_H_
