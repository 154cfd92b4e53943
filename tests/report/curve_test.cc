#include "tra/report/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "tests/base/files.h"

namespace tra {
namespace {

TEST(Curve, HasTheLastValueOfEachStep) {
  const TemporaryDirectory run;
  std::ofstream(run / "metrics.jsonl") << "{\"step\":10,\"train/loss\":2.5}\n"
                                          "{\"step\":10,\"eval/iid/em\":0.5}\n"
                                          "{\"step\":20,\"train/loss\":null}\n"
                                          "{\"step\":20,\"eval/iid/em\":0.75}\n"
                                          "{\"step\":20,\"eval/iid/em\":1}\n";
  const std::vector<std::pair<double, double>> expected = {{10, 0.5}, {20, 1}};
  EXPECT_EQ(ReadCurve(run / "", "eval/iid/em"), expected);
  const auto loss = ReadCurve(run / "", "train/loss");
  ASSERT_EQ(loss.size(), 2U);
  EXPECT_TRUE(std::isnan(loss[1].second));
  EXPECT_TRUE(ReadCurve(run / "", "none").empty());
}

TEST(Curve, SummariesHaveTheStepsThatAllRunsHave) {
  const CurveSummary summary = SummarizeCurves({{{10, 1}, {20, 2}, {30, std::nan("")}}, {{10, 3}, {25, 9}, {30, 1}}});
  ASSERT_EQ(summary.mean.size(), 2U);
  EXPECT_EQ(summary.mean[0], std::make_pair(10.0, 2.0));
  EXPECT_EQ(summary.range[0], std::make_pair(1.0, 3.0));
  EXPECT_EQ(summary.mean[1].first, 30);
  EXPECT_TRUE(std::isnan(summary.mean[1].second));
  EXPECT_TRUE(SummarizeCurves({}).mean.empty());
}

TEST(Curve, AllMetricsAreReadAtOnce) {
  const TemporaryDirectory run;
  std::ofstream(run / "metrics.jsonl")
      << "{\"step\":1,\"train/loss\":2,\"train/lr\":0.5}\n{\"step\":2,\"train/loss\":1}\n";
  const auto curves = ReadCurves(run / "");
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves.at("train/loss"), (Curve{{1, 2}, {2, 1}}));
  EXPECT_EQ(curves.at("train/lr"), (Curve{{1, 0.5}}));
}

TEST(Curve, SummariesHaveRangeAndDeviation) {
  const CurveSummary summary = SummarizeCurves({{{10, 1}}, {{10, 3}}});
  EXPECT_EQ(summary.range[0], std::make_pair(1.0, 3.0));
  EXPECT_DOUBLE_EQ(summary.deviation[0].first, 2 - std::sqrt(2));  // of a sample: (1 + 1) / (2 - 1)
  EXPECT_DOUBLE_EQ(summary.deviation[0].second, 2 + std::sqrt(2));
  EXPECT_EQ(SummarizeCurves({{{10, 5}}}).deviation[0], std::make_pair(5.0, 5.0));
}

TEST(Curve, ThinnedOutKeepsMeansAndTheWholeBand) {
  const CurveSummary summary =
      SummarizeCurves({{{1, 0}, {2, 10}, {3, 2}, {4, 4}, {5, 7}}, {{1, 2}, {2, 0}, {3, 2}, {4, 8}, {5, 7}}});
  const CurveSummary thin = ThinnedOut(summary, 3);
  EXPECT_EQ(thin.mean, (Curve{{2, 3}, {4, 4}, {5, 7}}));
  EXPECT_EQ(thin.range[0], std::make_pair(0.0, 10.0));
  EXPECT_EQ(thin.range[1], std::make_pair(2.0, 8.0));
  EXPECT_EQ(ThinnedOut(summary, 5).mean, summary.mean);
}

TEST(Curve, ThinnedOutDoesNotHideNaN) {
  const CurveSummary summary = SummarizeCurves({{{1, 0}, {2, std::nan("")}, {3, 2}, {4, 4}}});
  const CurveSummary thin = ThinnedOut(summary, 2);
  EXPECT_TRUE(std::isnan(thin.mean[0].second));
  EXPECT_TRUE(std::isnan(thin.range[0].first));
  EXPECT_EQ(thin.mean[1].second, 3);
}

TEST(Curve, SaysWhichLineIsBad) {
  const TemporaryDirectory run;
  EXPECT_THROW(ReadCurve(run / "", "x"), std::runtime_error);
  std::ofstream(run / "metrics.jsonl") << "{\"step\":10}\n{\"step\":2";
  try {
    ReadCurve(run / "", "x");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("metrics.jsonl:2: "), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tra
