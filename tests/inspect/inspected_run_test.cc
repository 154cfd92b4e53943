// Tests that a run can be looked into: its examples, what it answers, and the matrices of its heads.
#include "tra/inspect/inspected_run.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "tests/inspect/trained.h"

namespace tra {
namespace {

using testing::TrainFlipFlop;

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(InspectedRun, ShowsAnExampleItsAnswersAndEveryHead) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "tra"), at::kCPU, nullptr);
  EXPECT_EQ(run.step(), 2);
  const Example example = run.At("sparse", 3);
  const Inspection inspection = run.Inspect(example.tokens);
  const auto length = static_cast<int64_t>(example.tokens.size());
  ASSERT_EQ(inspection.predictions.size(), example.tokens.size());

  const c10::NoGradGuard no_grad;
  const at::Tensor ids = at::tensor(std::vector<int64_t>(example.tokens.begin(), example.tokens.end()), at::kLong);
  const at::Tensor logits = const_cast<Decoder&>(run.model()).Logits(ids.unsqueeze(0))[0];
  const at::Tensor probabilities = logits.to(at::kDouble).softmax(-1);
  for (int64_t t = 0; t < length; ++t) {
    const Prediction& prediction = inspection.predictions[static_cast<size_t>(t)];
    EXPECT_EQ(prediction.token, logits[t].argmax().item<int64_t>());
    EXPECT_NEAR(prediction.probability, probabilities[t].max().item<double>(), 1e-6);
  }
  for (int64_t layer = 0; layer < 2; ++layer) {
    for (int64_t head = 0; head < 2; ++head) {
      const AttentionMatrix all = inspection.Matrix({layer, head});
      ASSERT_EQ(all.weight.sizes(), (std::vector<int64_t>{length, length}));
      const AttentionMatrix part = inspection.Matrix({layer, head}, {5, 9, 2, 8});
      EXPECT_TRUE(at::equal(part.weight, all.weight.slice(0, 5, 9).slice(1, 2, 8)));
    }
  }
}

TEST(InspectedRun, AnotherGateChangesOneRowByItsCounts) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "tra"), at::kCPU, nullptr);
  const Inspection inspection = run.Inspect(run.At("iid", 0).tokens);
  const HeadId head = {1, 1};
  const MatrixPart row = {20, 21};
  const AttentionMatrix before = inspection.Matrix(head, row);
  const AttentionMatrix after = inspection.Matrix(head, row, -0.5f);
  EXPECT_TRUE(at::equal(before.score, after.score));
  EXPECT_TRUE(at::equal(before.position, after.position));
  EXPECT_TRUE(at::allclose(after.term, after.position * -0.5f));
  // The record itself is as it was.
  EXPECT_TRUE(at::equal(inspection.Matrix(head, row).term, before.term));
  EXPECT_NE(ErrorOf([&] { inspection.Matrix(head, {20, 22}, -0.5f); }), "no error");
}

TEST(InspectedRun, WhatIsNotThereIsNamed) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "ape"), at::kCPU, nullptr);
  const Inspection inspection = run.Inspect({1, 4});
  EXPECT_EQ(ErrorOf([&] { inspection.Matrix({2, 0}); }), "there is no layer 2; there are 0 to 1");
  EXPECT_EQ(ErrorOf([&] { inspection.Matrix({0, -1}); }), "there is no head -1; there are 0 to 1");
  EXPECT_EQ(ErrorOf([&] { inspection.Matrix({0, 0, 1}); }), "there is no attention 1; there is only 0");
  EXPECT_EQ(ErrorOf([&] {
              inspection.Matrix({0, 0}, {0, 3});
            }),
            "queries 0 to 3 and keys 0 to 2 are not within 2 tokens");
  EXPECT_EQ(ErrorOf([&] {
              inspection.Matrix({0, 0}, {0, 1}, -1.0f);
            }),
            "only the gate of one query of an attention with a threshold can be changed");
  EXPECT_NE(ErrorOf([&] { run.Inspect({}); }).find("there are no tokens"), std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              run.Inspect({1, 99});
            }).find("token 99 is not in the model's vocabulary"),
            std::string::npos);
  const std::string longest = ErrorOf([&] { run.Inspect(std::vector<int32_t>(100000, 1)); });
  EXPECT_NE(longest.find("give a shorter input"), std::string::npos) << longest;
  EXPECT_NE(ErrorOf([&] { run.At("idd", 0); }).find("iid"), std::string::npos);
}

}  // namespace
}  // namespace tra
