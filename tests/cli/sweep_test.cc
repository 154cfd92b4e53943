#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

class Sweeping : public testing::Test {
 protected:
  Sweeping() {
    std::ofstream(directory / "tiny.toml") << "[model]\nlayers = 1\nheads = 2\nwidth = 16\n[data]\ntask = \"copy\"\n"
                                              "lengths = [1, 5]\n[train]\nsteps = 6\nbatch = 8\n"
                                              "[eval]\nsplits = [\"iid\"]\nexamples = 20\n";
    Write("attentions = [\"tra\", \"rope\"]\nseeds = [1, 2]\n");
  }

  void Write(const std::string& what) const {
    std::ofstream(directory / "sweep.toml")
        << "configs = [\"tiny.toml\"]\nfolder = \"" << (directory / "runs") << "\"\n"
        << what;
  }
  Result Sweep(const std::string& more = "") const {
    return RunTra("sweep " + (directory / "sweep.toml") + " " + more);
  }
  std::string At(const std::string& name) const { return directory / ("runs/" + name); }

  TemporaryDirectory directory;
};

TEST_F(Sweeping, RunsEveryCombinationOnce) {
  const Result result = Sweep("--jobs 2");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(result.err, "4 of 4 runs done, 0 failed")) << result.err;
  for (const char* run : {"tiny-tra-s1", "tiny-tra-s2", "tiny-rope-s1", "tiny-rope-s2"}) {
    EXPECT_TRUE(fs::exists(At(run) + "/DONE")) << run;
  }
  const auto before = fs::last_write_time(At("tiny-tra-s1/results.json"));
  EXPECT_EQ(Sweep().code, 0);  // all skipped
  EXPECT_EQ(fs::last_write_time(At("tiny-tra-s1/results.json")), before);

  const Result table = RunTra("table " + (directory / "runs") + " --table all");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(Contains(table.out, "|  | RoPE | TRA |")) << table.out;
  EXPECT_TRUE(Contains(table.out, "n=2")) << table.out;
}

TEST_F(Sweeping, AFailedRunDoesNotStopTheRest) {
  Write("attentions = [\"tra\", \"rope\"]\nseeds = [1]\n");
  fs::create_directories(At(""));
  std::ofstream(At("tiny-tra-s1")) << "a file where a folder should be";
  const Result result = Sweep();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(Contains(result.err, "1 of 2 runs done, 1 failed")) << result.err;
  EXPECT_TRUE(fs::exists(At("tiny-rope-s1/DONE")));
  fs::remove(At("tiny-tra-s1"));
  EXPECT_EQ(Sweep().code, 0);  // and is tried again
}

TEST_F(Sweeping, AnIndexIsOneRunAsAJobArrayMakesIt) {
  const std::string script = directory / "job.sh";
  ASSERT_EQ(Sweep("--slurm " + script + " --threads 1 --time 1:00:00").code, 0);
  const std::string text = ReadBytes(script);
  EXPECT_TRUE(Contains(text, "#SBATCH --array=0-3\n")) << text;
  EXPECT_TRUE(Contains(text, "#SBATCH --cpus-per-task=1\n")) << text;
  EXPECT_TRUE(Contains(text, "#SBATCH --time=1:00:00\n")) << text;
  EXPECT_TRUE(Contains(text, "#SBATCH --signal=B:TERM@120\n")) << text;
  // What Slurm would do for index 2.
  ASSERT_EQ(std::system(("SLURM_ARRAY_TASK_ID=2 SLURM_CPUS_PER_TASK=1 sh " + script + " 2>/dev/null").c_str()), 0);
  EXPECT_TRUE(fs::exists(At("tiny-rope-s1/DONE")));
  EXPECT_FALSE(fs::exists(At("tiny-tra-s1")));
  EXPECT_TRUE(Contains(Sweep("--list").out, "2  tiny-rope-s1  done")) << Sweep("--list").out;

  ASSERT_EQ(Sweep("--slurm " + script + " --set \"label=it's\"").code, 0);
  ASSERT_EQ(std::system(("SLURM_ARRAY_TASK_ID=1 SLURM_CPUS_PER_TASK=1 sh " + script + " 2>/dev/null").c_str()), 0);
  EXPECT_TRUE(Contains(ReadBytes(At("tiny-tra-s2/config.toml")), "label = \"it's\" "));
}

TEST_F(Sweeping, BadSweepsAreRefusedBeforeAnythingRuns) {
  const auto expect = [&](const std::string& what, const std::string& said) {
    Write(what);
    const Result result = Sweep();
    EXPECT_EQ(result.code, 2) << said;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect("seeds = [1]\nattention = [\"tra\"]\n", "unknown key 'attention'; did you mean 'attentions'?");
  expect("seeds = []\n", "seeds must have at least one integer");
  expect("seeds = [1.5]\n", "seeds must be a list of integers");
  expect("seeds = [1, 1]\n", "two runs are called tiny-tra-s1");
  expect("seeds = [1]\nattentions = [\"tra\", \"alibi\"]\n", "model.attention must be one of");
  expect("seeds = [1]\nset = [\"train.step=3\"]\n", "did you mean 'train.steps'?");
  expect("seeds = [1]\nset = [\"train.step", ": ");
  expect("seeds = [1]\nset = [\"data.task=text\"]\n", "--set data.corpus=FOLDER");
  EXPECT_FALSE(fs::exists(At("")));
  EXPECT_EQ(RunTra("sweep " + (directory / "none.toml")).code, 2);
}

}  // namespace
}  // namespace tra
