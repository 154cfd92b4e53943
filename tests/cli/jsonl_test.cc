#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/run.h"
#include "tra/tasks/export.h"

namespace tra {
namespace {

using nlohmann::json;

// Makes a folder with a task of its own, flip-flop with few instructions, and a configuration that trains on it.
class Jsonl : public ::testing::Test {
 protected:
  Jsonl() {
    std::filesystem::create_directory(directory_ / "bits");
    TaskOptions short_ones;
    short_ones.lengths = Range{8, 8};
    for (const std::string split : {"train", "iid", "sparse"}) {
      const GeneratedExamples examples("flipflop", split, 0, short_ones);
      std::ofstream file(directory_ / ("bits/" + split + ".jsonl"));
      file << JsonlHead(examples.task(), examples.names(), Origin(examples, 0, 40)) << "\n";
      for (uint64_t i = 0; i < 40; ++i) file << JsonlLine(examples.At(i), i, examples.task(), examples.names()) << "\n";
    }
    std::ofstream(directory_ / "bits.toml") << R"(
model = {preset = "custom", layers = 1, heads = 2, width = 16}
data = {task = "jsonl", folder = ")" << (directory_ / "bits")
                                            << R"("}
train = {steps = 6, batch = 16, lr = 1e-2, checkpoint_every = 3, keep = 9}
eval = {examples = 100}
)";
  }

  Result Train(const std::string& run, const std::string& more = "") const {
    return RunTra("train " + (directory_ / "bits.toml") + " --run " + (directory_ / run) + " --threads 1 " + more);
  }

  TemporaryDirectory directory_;
};

TEST_F(Jsonl, TrainsAndScoresEverySplitThatHasAFile) {
  const Result trained = Train("run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json results = json::parse(ReadBytes(directory_ / "run/results.json"));
  EXPECT_EQ(results["task"], "jsonl-bits");
  std::set<std::string> splits;
  for (const json& row : results["rows"]) {
    splits.insert(row["split"].get<std::string>());
    if (row["metric"] != "em") continue;
    EXPECT_EQ(row["n"], 40);  // all that there are, not 100
  }
  EXPECT_EQ(splits, (std::set<std::string>{"iid", "sparse"}));
  const Result eval = RunTra("eval " + (directory_ / "run") + " --split sparse --examples 7 --json --threads 1");
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(json::parse(eval.out)["rows"][0]["n"], 7);
  const Result lengths = RunTra("eval " + (directory_ / "run") + " --lengths 300");
  EXPECT_EQ(lengths.code, 2);
  EXPECT_TRUE(Contains(lengths.err, "are as long as they are")) << lengths.err;
  const Result table = RunTra("table " + (directory_ / "run") + " --table all");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(Contains(table.out, "sparse")) << table.out;
}

TEST_F(Jsonl, AResumedRunEqualsOneThatWasNotStopped) {
  ASSERT_EQ(Train("whole").code, 0);
  ASSERT_EQ(Train("stopped").code, 0);
  // Takes the second half away again.
  for (const char* file : {"DONE", "results.json"})
    std::filesystem::remove(directory_ / ("stopped/" + std::string(file)));
  std::filesystem::remove_all(directory_ / "stopped/checkpoints/step-6");
  const Result resumed = RunTra("train " + (directory_ / "stopped") + " --resume --threads 1");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string weights = "/checkpoints/step-6/model.safetensors";
  EXPECT_TRUE(ReadBytes(directory_ / ("whole" + weights)) == ReadBytes(directory_ / ("stopped" + weights)));
}

TEST_F(Jsonl, ExamplesAreShownAndLookedInto) {
  const Result shown = RunTra("data show jsonl --folder " + (directory_ / "bits") + " --index 3");
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(Contains(shown.out, "split iid, line 5, example 3: 16 symbols")) << shown.out;
  EXPECT_TRUE(Contains(shown.out, "  w ")) << shown.out;
  const Result whole = RunTra("data show jsonl --folder " + (directory_ / "bits") + " --split train --index 0 --json");
  std::istringstream lines(ReadBytes(directory_ / "bits/train.jsonl"));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_EQ(json::parse(whole.out)["tokens"], json::parse(line)["tokens"]);
  EXPECT_EQ(json::parse(whole.out)["supervised"], json::parse(line)["supervised"]);

  ASSERT_EQ(Train("run").code, 0);
  const std::string run = directory_ / "run";
  const Result heat = RunTra("heatmap " + run + " --split sparse --index 39 --out " + (directory_ / "heat.svg"));
  EXPECT_EQ(heat.code, 0) << heat.err;
  EXPECT_TRUE(Contains(ReadBytes(directory_ / "heat.svg"), "jsonl-bits, split sparse, example 39"));
  const Result analysis = RunTra("analyze " + run + " --examples 60");
  EXPECT_EQ(analysis.code, 0) << analysis.err;
  EXPECT_TRUE(Contains(analysis.out, "examples from files do not say which tokens determine the next"));
  EXPECT_TRUE(Contains(analysis.out, "split iid has only 40 examples")) << analysis.out;
  const Result generated = RunTra("generate " + run + " --prompt 'w 1 i 0 r' --tokens 1 --json");
  ASSERT_EQ(generated.code, 0) << generated.err;
  EXPECT_EQ(json::parse(generated.out)["prompt"], (std::vector<int>{1, 5, 3, 4, 2}));
  const Result plotted = RunTra("plot " + run + " --out " + (directory_ / "curves.svg"));
  EXPECT_EQ(plotted.code, 0) << plotted.err;
  for (const std::string& command : {"heatmap " + run + " --index 40 --out x.svg",
                                     "data show jsonl --folder " + (directory_ / "bits") + " --index 40"}) {
    const Result beyond = RunTra(command);
    EXPECT_EQ(beyond.code, 2) << command;
    EXPECT_TRUE(Contains(beyond.err, "split iid has 40 examples; give a number below that")) << beyond.err;
  }
}

TEST_F(Jsonl, BadInputSaysWhatToDo) {
  const auto expect = [](const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect(Train("run", "--set data.folder="), 2, "--set data.folder=FOLDER");
  expect(Train("run", "--set data.folder=/nowhere"), 1, "is not a folder with a train.jsonl");
  expect(Train("run", "--set data.pack=100"), 2, "are for tasks whose examples are generated");
  expect(Train("run", "--set 'eval.splits=[\"dense\"]'"), 2, "unknown split 'dense'");
  expect(RunTra("data show jsonl"), 2, "--folder FOLDER");
  expect(RunTra("data export jsonl"), 2, "in files already");
  std::ofstream(directory_ / "bits/iid.jsonl", std::ios::app) << "{\"tokens\": [1, 2]}\n";
  expect(Train("run"), 1, "iid.jsonl:42: has no supervised");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

}  // namespace
}  // namespace tra
