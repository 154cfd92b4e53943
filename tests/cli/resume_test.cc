// Tests that a run is what its checkpoints say: whatever else has changed is refused, and nothing is lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/process.h"
#include "tests/cli/run.h"
#include "tra/base/checksum.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kConfig[] = R"(
[model]
layers = 1
heads = 2
width = 16
[data]
task = "copy"
lengths = [1, 5]
[train]
steps = 8
batch = 4
lr = 2e-3
log_every = 1
checkpoint_every = 4
[eval]
splits = ["iid"]
examples = 8
)";

void Write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Replaces a part of a file that occurs in it.
void Replace(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = ReadBytes(path);
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from << " in " << text;
  Write(path, text.replace(at, from.size(), to));
}

void Expect(const Result& result, int code, const std::string& said) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_TRUE(Contains(result.err, said)) << said << " in: " << result.err;
}

// Makes a checkpoint what versions wrote that recorded neither configuration nor threads.
void MakeOld(const std::string& checkpoint) {
  json state = json::parse(ReadBytes(checkpoint + "/state.json"));
  json sums = state.at("sha256");
  for (const char* field : {"config", "data", "threads", "processes", "sha256"}) state.erase(field);
  sums["state.json"] = Sha256Hex(state.dump());
  state["sha256"] = sums;
  Write(checkpoint + "/state.json", state.dump(2) + "\n");
}

class Resuming : public testing::Test {
 protected:
  Resuming() { Write(At("c.toml"), kConfig); }

  std::string At(const std::string& name) const { return directory / name; }
  Result Train(const std::string& run, const std::string& more = "") const {
    return RunTra("train " + At("c.toml") + " --threads 1 --quiet --run " + At(run) + " " + more);
  }
  Result Resume(const std::string& run, const std::string& more = "--threads 1") const {
    return RunTra("train " + At(run) + " --resume " + more);
  }
  // Trains a run, and leaves it as a kill would just before its end.
  void TrainAlmost(const std::string& run, const std::string& more = "") const {
    const Result result = Train(run, more);
    ASSERT_EQ(result.code, 0) << result.err;
    fs::remove(At(run) + "/DONE");
  }

  TemporaryDirectory directory;
};

TEST_F(Resuming, CheckpointsThatCannotBeListedAreNoBeginning) {
  TrainAlmost("a");
  const std::string metrics = ReadBytes(At("a/metrics.jsonl"));
  fs::rename(At("a/checkpoints"), At("a/kept"));
  fs::create_symlink("checkpoints", At("a/checkpoints"));  // a loop: refused also to root
  Expect(Resume("a"), 1, "a/checkpoints: cannot be listed: ");
  Expect(RunTra("eval " + At("a")), 1, "a/checkpoints: cannot be listed: ");
  EXPECT_EQ(ReadBytes(At("a/metrics.jsonl")), metrics);
  fs::remove(At("a/checkpoints"));
  fs::rename(At("a/kept"), At("a/checkpoints"));

  // What the system refuses to show is not damaged.
  fs::rename(At("a/checkpoints/step-8/model.safetensors"), At("a/kept"));
  fs::create_symlink("model.safetensors", At("a/checkpoints/step-8/model.safetensors"));
  Expect(Resume("a"), 1, "step-8/model.safetensors: cannot open: ");
  EXPECT_TRUE(fs::exists(At("a/checkpoints/step-8")));
  fs::rename(At("a/kept"), At("a/checkpoints/step-8/model.safetensors"));
  EXPECT_EQ(Resume("a").code, 0);
  EXPECT_TRUE(fs::exists(At("a/DONE")));
}

TEST_F(Resuming, AnEditedConfigurationIsRefusedWithItsKeys) {
  TrainAlmost("a");
  const std::string config = ReadBytes(At("a/config.toml"));
  const std::vector<std::pair<std::string, std::string>> edits = {{"\nlr = 0.002", "\nlr = 0.003"},
                                                                  {"\nseed = 1", "\nseed = 2"},
                                                                  {"\nsteps = 8", "\nsteps = 9"},
                                                                  {"\nmlp_dropout = 0.01", "\nmlp_dropout = 0.02"},
                                                                  {"\nqk_norm = \"auto\"", "\nqk_norm = \"false\""}};
  for (const auto& [from, to] : edits) {
    Replace(At("a/config.toml"), from, to);
    const std::string key = from.substr(1, from.find(' ') - 1);
    const Result refused = Resume("a");
    Expect(refused, 2, "/step-8: was made with another configuration: ");
    Expect(refused, 2, "." + key + " (" + to.substr(to.rfind(' ') + 1) + ", was ");
    Write(At("a/config.toml"), config);
  }
  Replace(At("a/config.toml"), "\nlr = 0.002", "\nlr = 0.003");
  Expect(RunTra("eval " + At("a")), 2, "another configuration: train.lr (0.003, was 0.002); put config.toml back");
  Write(At("a/config.toml"), config);
  EXPECT_EQ(Resume("a").code, 0);
}

TEST_F(Resuming, AConfigurationThatIsGoneIsNotInvented) {
  TrainAlmost("a");
  const std::string config = ReadBytes(At("a/config.toml"));
  fs::remove(At("a/config.toml"));
  Expect(Train("a", "--set train.lr=0.5"), 1, "holds a run already; continue it with --resume");
  Expect(Train("a", "--set train.lr=0.5 --resume"), 2, "another configuration: train.lr (0.5, was 0.002)");
  EXPECT_FALSE(fs::exists(At("a/config.toml")));
  EXPECT_EQ(Train("a", "--resume").code, 0);
  EXPECT_EQ(ReadBytes(At("a/config.toml")), config);
}

TEST_F(Resuming, ACheckpointOfAnotherRunIsRefused) {
  TrainAlmost("a");
  TrainAlmost("b", "--set train.seed=2 --set model.attention=rope --set model.heads=1");
  fs::remove_all(At("a/checkpoints/step-8"));
  fs::copy(At("b/checkpoints/step-8"), At("a/checkpoints/step-8"));
  Expect(Resume("a"), 2, "model.attention (\"tra\", was \"rope\"), model.heads (2, was 1), train.seed (1, was 2)");
}

TEST_F(Resuming, CheckpointsOfOlderVersionsAreReadAndTheirModelIsCompared) {
  TrainAlmost("a");
  for (const char* step : {"4", "8"}) MakeOld(At("a/checkpoints/step-") + step);
  EXPECT_EQ(RunTra("eval " + At("a") + " --threads 1").code, 0);
  const std::string config = ReadBytes(At("a/config.toml"));
  Replace(At("a/config.toml"), "\nheads = 2", "\nheads = 1");
  Expect(Resume("a"), 2, "is of another model than config.toml says: heads (1, was 2)");
  Expect(RunTra("eval " + At("a")), 2, "is of another model than config.toml says: heads (1, was 2)");
  fs::remove(At("a/config.toml"));
  Expect(Train("a", "--resume"), 1, "has checkpoints but no config.toml");
  Write(At("a/config.toml"), config);
  Expect(Resume("a"), 0, "did not record its configuration and data; that both are the same is taken on trust");
}

TEST_F(Resuming, ChangedDataAreRefused) {
  Write(At("lines"), "w1i0r1\nw0i1r0\nw1w0r0\n");
  TrainAlmost("a", "--set data.task=flipflop --set data.lengths=[] --set data.file=" + At("lines"));
  Write(At("lines"), "w1i0r1\nw0i1r0\nw1w1r1\n");
  Expect(Resume("a"), 2, "was trained on other data: what is read has changed: data.file; put it back");
  fs::create_directory(At("texts"));
  for (const char* name : {"train", "valid", "test"}) Write(At("texts/") + name + ".txt", std::string(200, 'a'));
  TrainAlmost("t",
              "--set data.task=text --set data.lengths=[] --set eval.splits=[] --set data.window=8 --set "
              "eval.windows=[8] --set data.corpus=" +
                  At("texts") + " --set data.cache=" + At("cache"));
  Write(At("texts/train.txt"), std::string(200, 'b'));
  Expect(Resume("t"), 2, "what is read has changed: data.corpus (train); put it back");
  Write(At("texts/train.txt"), std::string(200, 'a'));
  EXPECT_EQ(Resume("t").code, 0);
}

TEST_F(Resuming, ThreadsAreThoseOfTheRunUnlessToldOtherwise) {
  ASSERT_EQ(RunTra("train " + At("c.toml") + " --threads 2 --quiet --run " + At("a")).code, 0);
  fs::remove(At("a/DONE"));
  Expect(Resume("a", "--threads 1"), 0, "another number of threads, 1 instead of 2 up to step 8: results will differ");
  fs::remove(At("a/DONE"));
  const Result as_before = Resume("a", "");
  Expect(as_before, 0, "continuing with 2 threads as before; --threads changes that");
  EXPECT_FALSE(Contains(as_before.err, "another number")) << as_before.err;
}

TEST_F(Resuming, TheAdviceAfterAStopNamesTheThreads) {
  const Process process("train " + At("c.toml") + " --threads 1 --set train.steps=1000000 --run " + At("a"), "",
                        At("said"));
  ASSERT_TRUE(WaitFor(At("a/metrics.jsonl")));
  process.Kill(SIGINT);
  EXPECT_EQ(process.Wait(), 3);
  EXPECT_TRUE(Contains(ReadBytes(At("said")), "continue with: tra train " + At("a") + " --resume --threads 1\n"))
      << ReadBytes(At("said"));
}

TEST_F(Resuming, WhatOnlyTheEndWouldRefuseIsRefusedAtTheStart) {
  Expect(Train("b", "--set eval.splits=[\\\"iid\\\",\\\"iid\\\"]"), 2, "a list of splits, none of them twice");
  Expect(Train("b", "--set model.attention=ape --set model.max_length=3"), 2, "model.max_length: ape has 3 positions");
  EXPECT_FALSE(fs::exists(At("b")));
  TrainAlmost("a");
  for (const char* twice : {"--lengths 5,5-5", "--split iid,iid"}) {
    Expect(RunTra("eval " + At("a") + " " + twice), 2, "names one twice");
  }
  for (const std::string& command : {"eval " + At("a") + " --out ", "heatmap " + At("a") + " --length 4 --out "}) {
    const Result result = RunTra(command + At("none/x.svg"));
    Expect(result, 1, "none/x.svg: cannot create a file beside it: No such file or directory");
    EXPECT_FALSE(Contains(result.err, "scoring")) << result.err;
  }
}

TEST_F(Resuming, AConfigurationOfTheUsersOwnIsNotOverwritten) {
  fs::create_directory(At("own"));
  Write(At("own/config.toml"), kConfig);
  const Result refused = RunTra("train " + At("own"));
  Expect(refused, 2, "own/config.toml: was not written by tra train, and would be overwritten");
  Expect(refused, 2, "tra train " + At("own/config.toml") + " --run FOLDER");
  EXPECT_EQ(ReadBytes(At("own/config.toml")), kConfig);
}

TEST_F(Resuming, MetricsThatWereCutAreMendedAndSaid) {
  TrainAlmost("a");
  const auto state = json::parse(ReadBytes(At("a/checkpoints/step-8/state.json")));
  fs::resize_file(At("a/metrics.jsonl"), state.at("metrics_bytes").get<uintmax_t>() - 7);
  fs::resize_file(At("a/events.out.tfevents.0.tra"), state.at("events_bytes").get<uintmax_t>() - 7);
  const Result result = Resume("a");
  Expect(result, 0, "a/metrics.jsonl: has lost ");
  Expect(result, 0, "a/events.out.tfevents.0.tra: has lost ");
  std::istringstream lines(ReadBytes(At("a/metrics.jsonl")));
  std::vector<int> steps;
  for (std::string line; std::getline(lines, line);) steps.push_back(json::parse(line).at("step").get<int>());
  EXPECT_EQ(steps, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));  // the last is of the scores
}

TEST_F(Resuming, WhatKilledProcessesLeftBehindIsRemoved) {
  TrainAlmost("a");
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  const std::string left = At("a/.tra-" + std::to_string(dead) + "-0.tmp");
  Write(left, "x");
  fs::create_directories(At("a/checkpoints/.writing-13"));
  EXPECT_EQ(Resume("a").code, 0);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(At("a/checkpoints/.writing-13")));
}

TEST_F(Resuming, MoreStepsExtendARunThatIsDone) {
  ASSERT_EQ(Train("a").code, 0);
  const std::string model = "/checkpoints/step-12/model.safetensors", before = ReadBytes(At("a/results.json"));
  Expect(Resume("a", "--steps 8"), 0, "is done already");
  Expect(Resume("a", "--steps 7"), 2, "has taken 8 steps; --steps must be more, got 7");
  Expect(Resume("a", "--steps 12"), 0, "goes on from step 8 to 12 instead of 8 steps; from here on the learning rate");
  EXPECT_TRUE(fs::exists(At("a/DONE")));
  EXPECT_EQ(ReadBytes(At("a/results-step-8.json")), before);
  EXPECT_TRUE(Contains(ReadBytes(At("a/config.toml")), "\nsteps = 12"));
  EXPECT_TRUE(Contains(ReadBytes(At("a/config.toml")), "\nextended = [[8, 8]]"));
  Expect(Resume("a", "--steps 12"), 0, "is done already");
  // The configuration says all of it: a run that begins with it gives the same bits, also if it is killed on the way.
  const std::string again = "train " + At("a/config.toml") + " --quiet --threads 1 --run " + At("again");
  ASSERT_EQ(RunTra(again).code, 0);
  EXPECT_TRUE(ReadBytes(At("again") + model) == ReadBytes(At("a") + model));
  fs::remove(At("a/DONE"));
  fs::remove_all(At("a/checkpoints/step-12"));
  EXPECT_EQ(Resume("a").code, 0);  // from step 8, which was made before the extension
  EXPECT_TRUE(ReadBytes(At("again") + model) == ReadBytes(At("a") + model));
  Expect(Train("none", "--steps 12"), 2, "--resume");
  Expect(Train("none", "--resume --steps 12"), 2, "has saved nothing yet that --steps could extend");
  EXPECT_FALSE(fs::exists(At("none")));
}

TEST_F(Resuming, WeightsOfAnotherRunAreABeginning) {
  ASSERT_EQ(Train("a").code, 0);
  const std::string weights = "/checkpoints/step-8/model.safetensors", frozen = " --set train.lr=0 --set train.seed=7";
  for (const std::string& from : {At("a"), At("a") + weights}) {
    fs::remove_all(At("b"));
    const Result result = Train("b", "--init-from " + from + frozen);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(ReadBytes(At("b") + weights) == ReadBytes(At("a") + weights));
    EXPECT_TRUE(Contains(ReadBytes(At("b/config.toml")), "init_from = \"" + from + "\""));
  }
  const auto rows = [&](const std::string& arguments) {
    return json::parse(RunTra("eval " + arguments).out).at("rows");
  };
  EXPECT_EQ(rows(At("b") + " --threads 1 --json --step 0"), rows(At("a") + " --threads 1 --json"));
  Expect(
      Train("d", "--set model.heads=1 --set model.block=normed-residual --init-from " + At("a")), 2,
      "holds weights of another model: model.heads (1, there 2), model.block (\"normed-residual\", there \"prenorm\")");
  EXPECT_FALSE(fs::exists(At("d")));
  Expect(Train("d", "--init-from " + At("nowhere")), 1, "nowhere is neither a file of weights nor the folder of a run");
}

TEST_F(Resuming, EvalScoresTheStepsThatAreAskedFor) {
  ASSERT_EQ(Train("a").code, 0);
  EXPECT_EQ(fs::read_symlink(At("a/checkpoints/latest")), "step-8");
  const std::string eval = "eval " + At("a") + " --threads 1 --json --step ";
  EXPECT_EQ(json::parse(RunTra(eval + "4").out).at("step"), 4);
  const json all = json::parse(RunTra(eval + "all").out);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("step"), 4);
  EXPECT_EQ(all[1].at("rows"), json::parse(ReadBytes(At("a/results.json"))).at("rows"));
  Expect(RunTra(eval + "5"), 2, "has no checkpoint of step 5; it has 0, 4, 8");
  Expect(RunTra(eval + "last"), 2, "--step must be the step of a checkpoint, or all, got 'last'");
}

}  // namespace
}  // namespace tra
