#include "tra/inspect/head_heatmap.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/inspect/trained.h"
#include "tra/model/weights.h"

namespace tra {
namespace {

using testing::TrainFlipFlop;

std::vector<HeatRow> Rows(const InspectedRun& run, const Inspection& inspection, const MatrixPart& part = {},
                          ColorScale scale = ColorScale::kLinear) {
  return HeadRows(run, "the run", inspection, 1, 1, part, scale);
}

std::vector<float> Values(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

TEST(HeadHeatmap, ShowsContentPositionAndWeightsOfTra) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "tra"), at::kCPU, nullptr);
  const Inspection inspection = run.Inspect(run.At("iid", 0).tokens);
  const MatrixPart part = {20, 40, 10, 50};
  const std::vector<HeatRow> rows = Rows(run, inspection, part, ColorScale::kSquareRoot);
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_EQ(rows[0].panels.size(), 3U);
  EXPECT_EQ(rows[0].title, "tra, layer 1 of 0 to 1, head 1, step 2 (the run)");
  EXPECT_EQ(rows[0].panels[1].title.rfind("position", 0), 0U);
  const AttentionMatrix matrix = inspection.Matrix({1, 1}, part);
  EXPECT_EQ(rows[0].panels[0].values, Values(matrix.score));
  EXPECT_EQ(rows[0].panels[1].values, Values(matrix.term));
  EXPECT_EQ(rows[0].panels[2].values, Values(matrix.weight));
  EXPECT_EQ(rows[0].panels[2].scale, ColorScale::kSquareRoot);
  size_t dropped = 0;
  for (size_t i = 0; i < rows[0].states.size(); ++i) {
    const size_t query = 20 + i / 40, key = 10 + i % 40;
    ASSERT_EQ(rows[0].states[i] == CellState::kFuture, key > query);
    if (key > query) continue;
    EXPECT_EQ(rows[0].states[i] == CellState::kDropped, rows[0].panels[0].values[i] <= 0);
    dropped += rows[0].states[i] == CellState::kDropped ? 1 : 0;
  }
  EXPECT_GT(dropped, 0U);
}

TEST(HeadHeatmap, HasThePositionTermOfEachRuleThatHasOne) {
  const TemporaryDirectory directory;
  for (const auto& [attention, panels] : {std::pair("fot", 3), {"cope", 3}, {"rel", 3}, {"rope", 2}, {"nope", 2}}) {
    InspectedRun run(TrainFlipFlop(directory, attention), at::kCPU, nullptr);
    const Inspection inspection = run.Inspect(run.At("iid", 0).tokens);
    const std::vector<HeatRow> rows = Rows(run, inspection);
    ASSERT_EQ(rows.size(), 1U);
    ASSERT_EQ(rows[0].panels.size(), static_cast<size_t>(panels)) << attention;
    if (panels == 2) continue;
    EXPECT_EQ(rows[0].panels[1].values, Values(inspection.Matrix({1, 1}).term)) << attention;
  }
}

TEST(HeadHeatmap, ADeepPositionTermIsCutWhereItCanNoLongerMatter) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "fot"), at::kCPU, nullptr);
  const HeatPanel deep = Rows(run, run.Inspect(std::vector<int32_t>(200, 1)))[0].panels[1];
  EXPECT_TRUE(deep.has_lower);
  EXPECT_NEAR(deep.high - deep.low, 20, 1e-9);
  const HeatPanel shallow = Rows(run, run.Inspect(std::vector<int32_t>(4, 1)))[0].panels[1];
  EXPECT_FALSE(shallow.has_lower);
}

TEST(HeadHeatmap, DiffHasBothAttentionsAndTheirDifference) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "diff"), at::kCPU, nullptr);
  const Inspection inspection = run.Inspect(run.At("iid", 0).tokens);
  const std::vector<HeatRow> rows = HeadRows(run, "the run", inspection, 1, 0, {}, ColorScale::kLinear);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].panels.size(), 3U);
  ASSERT_EQ(rows[1].panels.size(), 2U);
  const auto weights = NamedWeights(run.model());
  const auto product = [&](const std::string& n) {
    const at::Tensor q = weights.at("layers.1.attention.lambda_q" + n);
    return std::exp((q * weights.at("layers.1.attention.lambda_k" + n)).sum().item<double>());
  };
  const double lambda = product("1") - product("2") + 0.8 - 0.6 * std::exp(-0.3);
  for (size_t i = 0; i < rows[0].states.size(); ++i) {
    const double wanted = rows[0].panels[1].values[i] - lambda * rows[1].panels[1].values[i];
    ASSERT_NEAR(rows[0].panels[2].values[i], wanted, 1e-5);
  }
  EXPECT_TRUE(rows[0].panels[2].diverging);
  EXPECT_THROW(HeadRows(run, "", inspection, 1, 1, {}, ColorScale::kLinear), std::invalid_argument);
}

TEST(HeadHeatmap, MarksQueriesByWhatComesNext) {
  Inspection inspection;
  inspection.tokens = {1, 4, 2, 4, 2};
  inspection.predictions.resize(5);
  inspection.predictions[2].token = 4;
  inspection.predictions[4].token = 4;
  Example example;
  example.tokens = {1, 4, 2, 4, 2, 5};  // its last token need not be read
  example.supervised = {0, 0, 0, 1, 0, 1};
  using Mark = AnswerMark;
  EXPECT_EQ(AnswerMarks(inspection, example, {}),
            (std::vector<Mark>{Mark::kNone, Mark::kNone, Mark::kRight, Mark::kNone, Mark::kWrong}));
  EXPECT_EQ(AnswerMarks(inspection, example, {2, 4}), (std::vector<Mark>{Mark::kRight, Mark::kNone}));
  example.supervised.clear();
  EXPECT_EQ(AnswerMarks(inspection, example, {2, 4}), (std::vector<Mark>{Mark::kNone, Mark::kNone}));
}

TEST(HeadHeatmap, AnExampleMayHaveAnotherLength) {
  const TemporaryDirectory directory;
  InspectedRun run(TrainFlipFlop(directory, "tra"), at::kCPU, nullptr);
  EXPECT_EQ(run.At("sparse", 1, 8).tokens.size(), 16U);
  EXPECT_THROW(run.At("sparse", 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace tra
