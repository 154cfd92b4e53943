// Tests tra analyze as a user runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/models.h"

namespace tra {
namespace {

using nlohmann::json;

constexpr char kFlipflop[] = "[data]\ntask = \"flipflop\"\nlengths = [8, 8]\n";
constexpr char kFew[] = " --split dense --examples 2 --factors 1,2 --threads 1";

TEST(Analyze, PrintsTablesOrJsonOfTheSameNumbers) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  TrainTiny(run, kFlipflop);
  const Result text = RunTra("analyze " + run + kFew);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(Contains(text.out, "tra on flipflop")) << text.out;
  EXPECT_TRUE(Contains(text.out, "2 examples of split dense")) << text.out;
  EXPECT_TRUE(Contains(text.out, "2 heads: no correlation")) << text.out;
  EXPECT_TRUE(Contains(text.err, "examples 2 times as long")) << text.err;

  const Result as_json = RunTra("analyze " + run + kFew + " --json");
  ASSERT_EQ(as_json.code, 0) << as_json.err;
  const json analysis = json::parse(as_json.out).at("runs").at(0);
  EXPECT_EQ(analysis.at("evidence").size(), 2u);  // steps 0 and 2
  char density[16];
  std::snprintf(density, sizeof density, "%.1f", 100 * analysis.at("heads").at(1).at("density").get<double>());
  EXPECT_TRUE(Contains(text.out, "| 0.1  |         " + std::string(density))) << text.out;

  const Result last = RunTra("analyze " + run + kFew + " --json --last-step");
  EXPECT_EQ(json::parse(last.out).at("runs").at(0).at("evidence").size(), 1u);
}

TEST(Analyze, WritesAFolderWithChartsOrOneFile) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", other = directory / "other";
  TrainTiny(run, kFlipflop);
  TrainTiny(other, kFlipflop);
  const Result both = RunTra("analyze " + run + " " + other + kFew + " --out " + (directory / "out"));
  ASSERT_EQ(both.code, 0) << both.err;
  for (const char* file : {"analysis.md", "analysis.json", "heads.svg", "evidence-run.svg", "evidence-other.svg",
                           "stretched-run.svg", "stretched-other.svg"}) {
    EXPECT_TRUE(std::filesystem::exists((directory / "out/") + file)) << file;
  }
  EXPECT_EQ(ReadBytes(directory / "out/analysis.md"), both.out);
  EXPECT_TRUE(Contains(both.out, "## All runs")) << both.out;

  const Result file = RunTra("analyze " + run + kFew + " --out " + (directory / "one.json"));
  EXPECT_EQ(file.code, 0) << file.err;
  EXPECT_EQ(file.out, "");
  EXPECT_EQ(json::parse(ReadBytes(directory / "one.json")).at("runs").size(), 1u);
}

TEST(Analyze, BadInputIsExplained) {
  const TemporaryDirectory directory;
  const Result none = RunTra("analyze " + (directory / "none"));
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(Contains(none.err, "is not the folder of a run")) << none.err;
  const std::string run = directory / "run";
  TrainTiny(run, kFlipflop);
  const Result split = RunTra("analyze " + run + " --split sparce");
  EXPECT_EQ(split.code, 2);
  EXPECT_TRUE(Contains(split.err, "did you mean 'sparse'?")) << split.err;
  const Result factor = RunTra("analyze " + run + " --factors 0");
  EXPECT_EQ(factor.code, 2);
  EXPECT_TRUE(Contains(factor.err, "factors must be 1..1024")) << factor.err;
  EXPECT_EQ(RunTra("analyze").code, 2);
}

}  // namespace
}  // namespace tra
