#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

const std::string kResults = TRA_RESULTS;

// A run of two steps, with its weights.
class Reports : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    trained = new TemporaryDirectory;
    for (const char* attention : {"tra", "fot"}) {
      const Result result = RunTra(
          "train '" TRA_CONFIGS "/demo.toml' --quiet --threads 1 --set model.attention=" + std::string(attention) +
          " --set model.width=16 --set model.heads=2 --set train.steps=2 --set train.batch=2 --set train.log_every=1"
          " --set eval.examples=2 --set eval.quick_examples=2 --run " +
          (*trained / attention));
      ASSERT_EQ(result.code, 0) << result.err;
    }
  }
  static void TearDownTestSuite() { delete trained; }

  std::string Made(const std::string& arguments) const {
    const Result result = RunTra("report " + arguments + " --threads 1 -o " + (directory / "report.html"));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    return ReadBytes(directory / "report.html");
  }

  static TemporaryDirectory* trained;
  TemporaryDirectory directory;
};
TemporaryDirectory* Reports::trained = nullptr;

TEST_F(Reports, HaveTablesChartsAndRunsOfCommittedResults) {
  const std::string page = Made(kResults + "/two-cores/table1");
  for (const char* part : {"aria-label=\"table table1\"", "aria-label=\"table solved\"", "<i>paper</i>",
                           "flipflop: exact match, % during training", "flipflop: loss during training",
                           "None of these runs has checkpoints here", "flipflop · TRA", "flipflop · CoPE",
                           "Made by <code>tra report ", "<b>A</b>: "}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
  EXPECT_LT(page.size(), 2'000'000U);
}

TEST_F(Reports, OfEveryCommittedFolderAreMade) {
  for (const char* folder : {"small", "reliability/heads", "reliability/600-steps"}) {
    const std::string page = Made(kResults + "/" + folder);
    EXPECT_TRUE(Contains(page, "</html>")) << folder;
    EXPECT_LT(page.size(), 2'000'000U) << folder;
  }
}

TEST_F(Reports, RunsWithWeightsAreLookedInto) {
  const std::string page = Made((*trained / "tra") + " " + (*trained / "fot"));
  EXPECT_TRUE(Contains(page, "flipflop, TRA (demo), seed 1")) << page.substr(0, 1000);
  EXPECT_TRUE(Contains(page, "flipflop, FoT (demo), seed 1"));
  EXPECT_TRUE(Contains(page, "Its heads, on 4 examples of iid, step 2"));
  EXPECT_TRUE(Contains(page, "Sparsity and decay of the heads"));
  EXPECT_TRUE(Contains(page, "its first 64 of 512 tokens"));
  EXPECT_TRUE(Contains(page, "\"threshold\":true"));
  EXPECT_TRUE(Contains(page, "\"threshold\":false"));
  EXPECT_FALSE(Contains(page, "None of these runs has checkpoints"));
  const std::string fewer = Made((*trained / "tra") + " " + (*trained / "fot") + " --looks 1 --heads 1 --tokens 8");
  EXPECT_TRUE(Contains(fewer, "The first 1 of 4 heads")) << fewer.substr(0, 1000);
  EXPECT_TRUE(Contains(fewer, "Settings after the first 1 are left out"));
}

TEST_F(Reports, DamagedWeightsDoNotStopTheRest) {
  fs::copy(*trained / "tra", directory / "tra", fs::copy_options::recursive);
  for (const auto& each : fs::recursive_directory_iterator(directory / "tra/checkpoints")) {
    if (each.path().filename() == "model.safetensors") std::ofstream(each.path()) << "damaged";
  }
  const std::string page = Made(directory / "tra");
  EXPECT_TRUE(Contains(page, "cannot be looked into: "));
  EXPECT_TRUE(Contains(page, "flipflop · TRA (demo)"));
}

TEST_F(Reports, FailedAndUnfinishedRunsAreNamed) {
  fs::create_directories(directory / "runs/failed");
  fs::copy(*trained / "tra/config.toml", directory / "runs/failed/config.toml");
  std::ofstream(directory / "runs/failed/FAILED") << "the loss is not finite\nmore\n";
  fs::create_directories(directory / "runs/begun");
  fs::copy(*trained / "fot/config.toml", directory / "runs/begun/config.toml");
  const std::string page = Made(directory / "runs");
  EXPECT_TRUE(Contains(page, "failed: the loss is not finite</li>"));
  EXPECT_TRUE(Contains(page, "not finished</li>"));
}

TEST_F(Reports, BadInputSaysWhatToDo) {
  const Result name = RunTra("report " + kResults + "/small -o report.pdf");
  EXPECT_EQ(name.code, 2);
  EXPECT_TRUE(Contains(name.err, "a report is a page; end the name in .html")) << name.err;
  const Result none = RunTra("report " + (directory / "none") + " -o " + (directory / "r.html"));
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(Contains(none.err, "no such file or folder; check the path")) << none.err;
  EXPECT_FALSE(fs::exists(directory / "r.html"));
  EXPECT_EQ(RunTra("report " + kResults + "/small").code, 2);
  EXPECT_TRUE(Contains(RunTra("report --help").out, "Example: tra report "));
}

}  // namespace
}  // namespace tra
