// Tests models on a device other than the CPU.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/base/other_device.h"
#include "tests/model/small.h"
#include "tra/model/generate.h"
#include "tra/model/weights.h"
#include "tra/ops/adamw.h"

namespace tra {
namespace {

using testing::MaxDifference;
using testing::OtherDevice;
using testing::RandomTokens;
using testing::SmallConfig;
using testing::SmallModel;

// Returns the model of SmallModel, on a device.
std::shared_ptr<Decoder> OnDevice(const ModelConfig& config, at::Device device) {
  auto model = std::make_shared<Decoder>(config, 2, device);
  LoadWeights(*model, NamedWeights(*SmallModel(config)), "the model of the test");
  return model;
}

class Device : public testing::EveryVariant {};

TEST_P(Device, WeightsAreTheSame) {
  const Decoder here(SmallConfig(GetParam()), 3), there(SmallConfig(GetParam()), 3, OtherDevice());
  EXPECT_EQ(there.Device(), OtherDevice());
  const auto want = here.named_parameters();
  for (const auto& each : there.named_parameters()) {
    EXPECT_EQ(each.value().device(), OtherDevice()) << each.key();
    EXPECT_TRUE(each.value().cpu().equal(want[each.key()])) << each.key();
  }
}

// Uses dropout: what is drawn must not depend on the device either.
TEST_P(Device, AStepIsThatOfTheCpu) {
  ModelConfig config = SmallConfig(GetParam());
  config.attention_dropout = config.mlp_dropout = config.embedding_dropout = 0.2;
  const at::Tensor tokens = RandomTokens(1, 52), targets = RandomTokens(1, 52, 11, 6);
  targets.narrow(1, 0, 4).fill_(-1);
  Pass pass;
  pass.draws = {7, at::tensor({4, 2, 9}, at::kLong), at::tensor({0, 20, 32, 52}, at::kInt)};
  const auto step = [&](at::Device device) {
    auto model = OnDevice(config, device);
    model->train();
    const CrossEntropySum sum = model->Loss(tokens.to(device), targets.to(device), pass);
    EXPECT_EQ(sum.loss.device(), device);
    sum.loss.backward();
    AdamW optimizer({{model->parameters(), 0.1}});
    const double norm = optimizer.GradNorm();
    optimizer.Step(1e-2, 0.5);
    return std::tuple(model, sum.loss.item<double>(), sum.correct, norm);
  };
  const auto [here, loss_here, correct_here, norm_here] = step(at::kCPU);
  const auto [there, loss_there, correct_there, norm_there] = step(OtherDevice());
  EXPECT_NEAR(loss_there, loss_here, 1e-5 * loss_here);
  EXPECT_EQ(correct_there, correct_here);
  EXPECT_NEAR(norm_there, norm_here, 1e-4 * norm_here);
  const auto want = here->named_parameters();
  for (const auto& each : there->named_parameters()) {
    const at::Tensor grad = each.value().grad().cpu(), want_grad = want[each.key()].grad();
    EXPECT_LT(MaxDifference(grad, want_grad), 1e-4 * (1 + want_grad.abs().max().item<double>())) << each.key();
    // AdamW's first step has the sign of the gradient, which rounding may flip where the gradient is almost 0.
    const at::Tensor clear = want_grad.abs() > 1e-3;
    const at::Tensor weight = each.value().detach().cpu(), want_weight = want[each.key()].detach();
    EXPECT_LT(MaxDifference(weight.masked_select(clear), want_weight.masked_select(clear)), 1e-5) << each.key();
  }
}

TEST_P(Device, GeneratesTheSame) {
  const at::Tensor prompt = RandomTokens(2, 5);
  GenerateOptions options;
  options.new_tokens = 12;
  options.sampling.seed = 3;
  const at::Tensor here = Generate(*OnDevice(SmallConfig(GetParam()), at::kCPU), prompt, options);
  const at::Tensor there = Generate(*OnDevice(SmallConfig(GetParam()), OtherDevice()), prompt, options);
  EXPECT_TRUE(there.equal(here)) << there << here;
}

TRA_FOR_EVERY_VARIANT(Device);

TEST(DeviceError, TokensElsewhereAreRefused) {
  Decoder model(SmallConfig("tra"), 1, OtherDevice());
  try {
    model.Logits(RandomTokens(1, 3));
    FAIL() << "took tokens of the CPU";
  } catch (const c10::Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("its weights are on " + OtherDevice().str() + ", the tokens on cpu; move them"),
        std::string::npos)
        << error.what();
  }
}

TEST(DeviceFile, GoesFromOneToTheOther) {
  const std::string path = ::testing::TempDir() + "/device_test.safetensors";
  const auto model = OnDevice(SmallConfig("tra"), OtherDevice());
  SaveModel(*model, path);
  const at::Tensor tokens = RandomTokens(2, 9);
  const c10::NoGradGuard no_grad;
  model->eval();
  const at::Tensor want = model->Logits(tokens.to(OtherDevice())).cpu();
  EXPECT_LT(MaxDifference(LoadModel(path)->Logits(tokens), want), 1e-5);
  const auto there = LoadModel(path, OtherDevice());
  EXPECT_LT(MaxDifference(there->Logits(tokens.to(OtherDevice())).cpu(), want), 1e-5);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tra
