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
