// Runs the demo with too few steps to show more than that its parts fit together.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(Demo, TrainsSeedsOfThreeModelsPrintsTheTableAndDrawsTheCurves) {
  const TemporaryDirectory directory;
  const std::string command = "demo --jobs 2 --seeds 2 --folder " + (directory / "runs") +
                              " --set model.width=16 --set train.steps=2 --set train.batch=1 --set train.eval_every=1"
                              " --set eval.examples=2 --set eval.quick_examples=1";
  const Result first = RunTra(command);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(Contains(first.out, "|  | RoPE | FoT | TRA |")) << first.out;
  EXPECT_TRUE(Contains(first.out, "| Flip-flop OOD (sparse) |")) << first.out;
  EXPECT_TRUE(Contains(first.out, "on 2048 instructions")) << first.out;
  EXPECT_TRUE(Contains(first.out, "n=2")) << first.out;
  for (const char* attention : {"tra", "rope", "fot"}) {
    for (const char* seed : {"-s1", "-s2"}) {
      EXPECT_TRUE(fs::exists(directory / "runs/" + std::string(attention) + seed + "/DONE")) << attention << seed;
    }
  }
  for (const char* said : {"What to look for", "Runs: ", "Figure: "}) EXPECT_TRUE(Contains(first.out, said)) << said;
  EXPECT_TRUE(
      Contains(first.err, "2 seeds each: layers 2, heads 4, width 16, 2 steps of 1 sequences; 2 runs at a time"))
      << first.err;
  const std::string svg = ReadBytes(directory / "runs/exact_match.svg");
  EXPECT_TRUE(Contains(svg, "TRA: ")) << svg;
  EXPECT_TRUE(Contains(svg, "sparse"));

  const Result again = RunTra(command);  // nothing is trained again
  EXPECT_EQ(again.out, first.out);
  EXPECT_FALSE(Contains(again.err, "running")) << again.err;

  const Result other = RunTra(command + " --set train.lr=0.5");
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(Contains(other.err, "train.lr (0.5, was 0.003); give this one another --folder")) << other.err;
}

// Makes runs that are already done, with scores that are written here, so that the demo only makes the tables.
class FinishedDemo : public testing::Test {
 protected:
  using Scores = std::vector<std::pair<std::string, double>>;  // by split

  static void WriteResults(const std::string& path, const std::string& attention, int seed, const Scores& scores) {
    json rows = json::array();
    for (const auto& [split, value] : scores) {
      rows.push_back({{"split", split}, {"group", ""}, {"window", 0}, {"metric", "em"}, {"value", value}, {"n", 500}});
    }
    std::ofstream(path) << json{{"format", "tra-results"},
                                {"version", 1},
                                {"task", "flipflop"},
                                {"attention", attention},
                                {"label", "demo"},
                                {"seed", seed},
                                {"step", 600},
                                {"context", json::object()},
                                {"rows", rows}};
  }

  void Write(const std::string& attention, int seed, double iid, double dense, double sparse, double longer) const {
    const std::string run = directory / ("runs/" + attention + "-s" + std::to_string(seed));
    fs::create_directories(run);
    WriteResults(run + "/results.json", attention, seed, {{"iid", iid}, {"dense", dense}, {"sparse", sparse}});
    WriteResults(run + "/longer.json", attention, seed, {{"2048-2048", iid}, {"sparse 2048-2048", longer}});
    std::ofstream(run + "/metrics.jsonl")
        << json{{"step", 600}, {"eval/iid/em", iid}, {"eval/dense/em", dense}, {"eval/sparse/em", sparse}} << "\n";
    std::ofstream(run + "/DONE") << "all steps taken\n";
    const Result config = RunTra("train '" TRA_CONFIGS "/demo.toml' --print-config --set model.attention=" + attention +
                                 " --set train.seed=" + std::to_string(seed));
    ASSERT_EQ(config.code, 0) << config.err;
    std::ofstream(run + "/config.toml") << config.out;
  }

  TemporaryDirectory directory;
};

TEST_F(FinishedDemo, ItsTablesHaveMeansDeviationsAndHowManySolveIt) {
  Write("tra", 1, 1, 1, 1, 1);
  Write("tra", 2, 1, 1, 1, 1);
  Write("rope", 1, 1, 0.5, 0.25, 0);
  Write("rope", 2, 1, 0.75, 0.75, 0);
  Write("fot", 1, 1, 1, 1, 1);
  Write("fot", 2, 1, 1, 0.998, 0.5);
  const Result result = RunTra("demo --seeds 2 --folder " + (directory / "runs"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, R"(
**demo**: Flip-flop, exact match in percent; solved: 100 on all three sets, with the 95% interval of how often; mean ± std over seeds, n=2.

|  | RoPE | FoT | TRA |
|---|---:|---:|---:|
| Flip-flop IID | 100.00 ± 0.00 | 100.00 ± 0.00 | 100.00 ± 0.00 |
| Flip-flop OOD (dense) | 62.50 ± 17.68 | **100.00 ± 0.00** | **100.00 ± 0.00** |
| Flip-flop OOD (sparse) | 50.00 ± 35.36 | 99.90 ± 0.14 | **100.00 ± 0.00** |
| Solved | 0 of 2 [0.00, 0.66] | 1 of 2 [0.09, 0.91] | **2 of 2 [0.34, 1.00]** |

**longer**: The same models on 2048 instructions, eight times as many as in training; mean ± std over seeds, n=2.

|  | RoPE | FoT | TRA |
|---|---:|---:|---:|
| Flip-flop IID | 100.00 ± 0.00 | 100.00 ± 0.00 | 100.00 ± 0.00 |
| Flip-flop OOD (sparse) | 0.00 ± 0.00 | 75.00 ± 35.36 | **100.00 ± 0.00** |
)")) << result.out;
}

}  // namespace
}  // namespace tra
