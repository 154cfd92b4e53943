// Tests training as a user does it: started, stopped, killed, damaged, resumed.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/base/port.h"
#include "tests/cli/process.h"
#include "tests/cli/run.h"
#include "tra/tasks/random.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kConfig[] = R"(
[model]
layers = 2
heads = 2
width = 32
[data]
task = "copy"
lengths = [1, 8]
[train]
steps = 60
batch = 16
lr = 2e-3
log_every = 3
eval_every = 10
checkpoint_every = 4
[eval]
splits = ["iid"]
examples = 30
quick_examples = 10
)";

class Training : public testing::Test {
 protected:
  Training() { std::ofstream(directory / "config.toml") << kConfig; }

  std::string At(const std::string& name) const { return directory / name; }
  std::string Command(const std::string& run, const std::string& more = "") const {
    return "train " + At("config.toml") + " --threads 1 --quiet --run " + At(run) + " " + more;
  }

  // Returns the weights and the optimiser's state at the end, the scores, and what the run measured, except for times.
  std::string Outcome(const std::string& run, int steps = 60) const {
    const std::string checkpoint = At(run) + "/checkpoints/step-" + std::to_string(steps);
    std::string all = ReadBytes(checkpoint + "/model.safetensors") + ReadBytes(checkpoint + "/optimizer.safetensors") +
                      ReadBytes(At(run) + "/results.json");
    EXPECT_GT(all.size(), 100'000u);
    std::istringstream lines(ReadBytes(At(run) + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      json values = json::parse(line);
      for (const char* time : {"wall_time", "train/tokens_per_second"}) values.erase(time);
      all += values.dump() + "\n";
    }
    return all;
  }

  TemporaryDirectory directory;
};

TEST_F(Training, LeavesAWholeRunBehind) {
  const Result result = RunTra(Command("a"));
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* file : {"config.toml", "env.json", "metrics.jsonl", "results.json", "DONE"}) {
    EXPECT_TRUE(fs::exists(At("a") + "/" + file)) << file;
  }
  size_t checkpoints = 0;
  for (const auto& each : fs::directory_iterator(At("a") + "/checkpoints")) {
    if (each.is_symlink()) continue;  // latest
    EXPECT_EQ(each.path().filename().string().rfind("step-", 0), 0u) << each.path();
    ++checkpoints;
  }
  EXPECT_EQ(checkpoints, 2u);  // train.keep
  const Result eval = RunTra("eval " + At("a") + " --threads 1 --json");
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(json::parse(eval.out).at("rows"), json::parse(ReadBytes(At("a") + "/results.json")).at("rows"));
  // What the run was computed with is what the program says of itself.
  const json environment = json::parse(ReadBytes(At("a") + "/env.json"));
  const auto says = [&](const char* key) { return environment.at(key).get<std::string>(); };
  EXPECT_EQ(RunTra("--version").out, "tra " + says("tra") + ", revision " + says("revision") + "\nLibTorch " +
                                         says("libtorch") + ", products by " + says("products") + ", kernels for " +
                                         says("simd") + "\n");
  EXPECT_EQ(says("products").rfind("oneDNN ", 0), 0u) << says("products");
}

TEST_F(Training, SaysAtOnceWhatItDoesAndShowsTheFirstStep) {
  const std::string few = "--set train.steps=5 --set train.log_every=1000 --set train.checkpoint_every=2 --threads 1 ";
  const Result result = RunTra("train " + At("config.toml") + " --run " + At("a") + " " + few);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err.rfind("tra: " + At("a") + ": tra, ", 0), 0u) << result.err;
  EXPECT_TRUE(Contains(result.err, " parameters; 1 thread on cpu; 5 steps of 16 sequences, about ")) << result.err;
  EXPECT_TRUE(Contains(result.err, " tokens each\nstep 1/5  loss ")) << result.err;
  // The metrics have the time of each line, and the first step.
  const std::string text = ReadBytes(At("a") + "/metrics.jsonl");
  const json first = json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(first.at("step"), 1);
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(first.at("wall_time").get<double>(), now, 600);

  fs::remove(At("a") + "/DONE");
  fs::remove_all(At("a") + "/checkpoints/step-5");
  const Result resumed = RunTra("train " + At("a") + " --resume --threads 1");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(Contains(resumed.err, " tokens each; continues at step 4\nstep 5/5  loss ")) << resumed.err;
}

TEST_F(Training, KilledAtAnyMomentItResumesBitForBit) {
  ASSERT_EQ(RunTra(Command("whole")).code, 0);
  const std::string want = Outcome("whole");
  Random random(20, 0, 0);
  int killed = 0;
  for (int attempt = 0; attempt < 60 && !fs::exists(At("killed") + "/DONE"); ++attempt) {
    Process process(Command("killed", "--resume"));
    // Kills it later and later, so that it ends at some point: loading alone takes some tenths of a second.
    std::this_thread::sleep_for(std::chrono::milliseconds(random.Between(100, 500 + 60 * attempt)));
    process.Kill(SIGKILL);
    if (process.Wait() == -SIGKILL) ++killed;
  }
  EXPECT_GE(killed, 2);
  EXPECT_EQ(RunTra(Command("killed", "--resume")).code, 0);
  EXPECT_TRUE(Outcome("killed") == want);  // binary: nothing to print
}

TEST_F(Training, StopsOnRequestAndGoesOnBitForBit) {
  ASSERT_EQ(RunTra(Command("whole", "--set train.steps=400 --set train.checkpoint_every=150")).code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string run = "stopped" + std::to_string(signal);
    const std::string command = Command(run, "--resume --set train.steps=400 --set train.checkpoint_every=150");
    Process process(command);
    ASSERT_TRUE(WaitFor(At(run) + "/metrics.jsonl"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    process.Kill(signal);
    EXPECT_EQ(process.Wait(), 3);
    EXPECT_FALSE(fs::exists(At(run) + "/DONE"));
    EXPECT_EQ(RunTra("train " + At(run) + " --resume --quiet --threads 1").code, 0);
    EXPECT_TRUE(Outcome(run, 400) == Outcome("whole", 400));
  }
}

TEST_F(Training, DamagedCheckpointsArePassedOverLoudly) {
  ASSERT_EQ(RunTra(Command("whole")).code, 0);
  const std::string want = Outcome("whole");
  fs::remove(At("whole") + "/DONE");
  const std::string newest = At("whole") + "/checkpoints/step-60/optimizer.safetensors";
  std::string bytes = ReadBytes(newest);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(newest, std::ios::binary) << bytes;
  const Result result = RunTra("train " + At("whole") + " --resume --threads 1");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(Contains(result.err, "step-60 is damaged and passed over")) << result.err;
  EXPECT_TRUE(Outcome("whole") == want);
  EXPECT_TRUE(fs::exists(At("whole") + "/checkpoints/damaged-step-60"));
  EXPECT_TRUE(fs::exists(At("whole") + "/checkpoints/step-56"));
}

// Changes one digit of a number in state.json.
void Miscount(const std::string& checkpoint) {
  std::string text = ReadBytes(checkpoint + "/state.json");
  char& digit = text[text.find("\"tokens\": ") + 10];
  digit = digit == '9' ? '8' : static_cast<char>(digit + 1);
  std::ofstream(checkpoint + "/state.json", std::ios::binary) << text;
}

TEST_F(Training, DamageIsNeverTakenForABeginning) {
  ASSERT_EQ(RunTra(Command("a")).code, 0);
  fs::remove(At("a") + "/DONE");
  const std::string checkpoints = At("a") + "/checkpoints";
  Miscount(checkpoints + "/step-60");
  const Result eval = RunTra("eval " + At("a") + " --threads 1 --json");
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_TRUE(Contains(eval.err, "step-60 is damaged and passed over")) << eval.err;
  EXPECT_EQ(json::parse(eval.out).at("step"), 56);
  Miscount(checkpoints + "/step-56");
  const std::string metrics = ReadBytes(At("a") + "/metrics.jsonl");
  for (const char* command : {"train ", "eval "}) {
    const Result result = RunTra(command + At("a") + " --threads 1 " + (command[0] == 't' ? "--resume --quiet" : ""));
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(Contains(result.err, "all of its checkpoints are damaged; to begin again, move ")) << result.err;
  }
  EXPECT_EQ(ReadBytes(At("a") + "/metrics.jsonl"), metrics);
}

TEST_F(Training, AStopWhileScoringIsHeeded) {
  const std::string command = Command("a", "--resume --set train.steps=4 --set eval.examples=3000000");
  Process process(command);
  ASSERT_TRUE(WaitFor(At("a") + "/checkpoints/step-4"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.Kill(SIGTERM);
  EXPECT_EQ(process.Wait(), 3);
  EXPECT_FALSE(fs::exists(At("a") + "/results.json"));
}

TEST_F(Training, ARunThatSavedNothingCanBeBegunAnew) {
  const std::string never = "--set train.checkpoint_every=1000 ";
  EXPECT_EQ(RunTra(Command("a", never + "--set train.lr=1e30")).code, 1);
  ASSERT_TRUE(fs::exists(At("a") + "/FAILED"));
  fs::create_directories(At("a") + "/checkpoints/.writing-4");  // as a kill leaves it
  EXPECT_EQ(RunTra(Command("a", never + "--resume")).code, 0);
  EXPECT_FALSE(fs::exists(At("a") + "/FAILED"));
  EXPECT_TRUE(Contains(ReadBytes(At("a") + "/config.toml"), "\nlr = 0.002 "));
  // A configuration that cannot be a model leaves nothing behind.
  const Result heads = RunTra(Command("b", "--set model.heads=3"));
  EXPECT_EQ(heads.code, 2) << heads.err;
  EXPECT_FALSE(fs::exists(At("b")));
}

TEST_F(Training, WhatCannotBeDoneIsSaidAndNothingIsLost) {
  const auto expect = [](const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  ASSERT_EQ(RunTra(Command("a")).code, 0);
  const std::string before = Outcome("a");
  expect(RunTra(Command("a")), 1, "holds a run already; continue it with --resume");
  expect(RunTra(Command("a", "--resume --set train.lr=0.5")), 2, "another configuration: train.lr (0.5, was 0.002)");
  expect(RunTra(Command("b", "--set train.lr=1e30")), 1, "with a lower train.lr");
  EXPECT_TRUE(Contains(ReadBytes(At("b") + "/FAILED"), "the loss is"));
  expect(RunTra(Command("e", "--set train.lr=1e30 --set train.eval_every=1 --set train.checkpoint_every=1")), 1,
         "after step 1: evaluation: the loss is nan");
  EXPECT_FALSE(fs::exists(At("b") + "/DONE"));
  const Result diverged = RunTra(Command("g", "--set train.lr=1e30 --set train.checkpoint_every=1"));
  expect(diverged, 1, "step 2: the loss is ");
  expect(diverged, 1, "; the last checkpoint before it is " + At("g") + "/checkpoints/step-1;");
  expect(RunTra(Command("f", "--set train.lr=1e300 --set train.checkpoint_every=1")), 1, "is no longer finite");
  EXPECT_FALSE(fs::exists(At("f") + "/checkpoints/step-1"));
  expect(RunTra("train " + At("none.toml")), 2, "cannot open: No such file or directory; check the path");
  expect(RunTra(Command("c", "--set data.task=text")), 2, "--set data.corpus=FOLDER");
  expect(RunTra("train " + At("config.toml") + " --run /proc/nowhere"), 1, "choose another folder with --run");
  expect(RunTra("eval " + At("nowhere")), 1, "is not the folder of a run");
  EXPECT_TRUE(Outcome("a") == before);
}

TEST_F(Training, AFolderThatCannotBeWrittenIsSaidAndLeftAlone) {
  // Root may write anywhere, so the program runs as another user.
  const std::string nobody = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  if (RunTra("list", "", nobody).code != 0) GTEST_SKIP() << "no setpriv, or nobody may not run the program";
  ASSERT_EQ(RunTra(Command("a", "--set train.steps=4")).code, 0);
  ASSERT_EQ(RunTra(Command("b", "--set train.steps=4")).code, 0);
  fs::remove(At("b") + "/DONE");
  const auto set = [&](const char* mode) { return std::system((std::string("chmod -R ") + mode + At("")).c_str()); };
  ASSERT_EQ(set("a+rX,a-w "), 0);
  const std::string before = Outcome("b", 4);
  const auto expect = [&](const std::string& arguments, int code, const std::string& said) {
    const Result result = RunTra(arguments, "", nobody);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect(Command("new"), 1, "/new: cannot be created: Permission denied; choose another folder with --run");
  expect("train " + At("b") + " --resume", 1, "/b: cannot be written: Permission denied; make it writable");
  expect("train " + At("a") + " --resume", 0, "is done already");
  expect("eval " + At("a") + " --out " + At("results.json"), 1, "Permission denied");
  EXPECT_TRUE(Outcome("b", 4) == before);
  EXPECT_EQ(set("u+w "), 0);
}

TEST_F(Training, AJumpOfTheLossIsReported) {
  // The rate grows until it is too high.
  const Result result =
      RunTra(Command("a",
                     "--set train.lr=100 --set train.warmup=300 --set train.steps=200 --set train.checkpoint_every=50 "
                     "--set model.block=normed-residual"));
  EXPECT_EQ(result.code, 0) << result.err;
  const size_t at = result.err.find("the loss jumped to ");
  ASSERT_NE(at, std::string::npos) << result.err;
  EXPECT_NE(result.err.find("its mean was ", at), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("; the last checkpoint before it is " + At("a") + "/checkpoints/step-", at),
            std::string::npos)
      << result.err;
}

TEST_F(Training, ADeviceThatIsNotThereIsRefused) {
  const auto expect = [](const std::string& arguments, const std::string& said) {
    const Result result = RunTra(arguments, "", "CUDA_VISIBLE_DEVICES= ");  // hides any GPUs
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect(Command("a", "--device gpu"), "--device: must be cpu, cuda or cuda:N, got 'gpu'");
  for (const char* bad : {"cuda:", "cuda:-1", "cuda:1x", "cuda:1000", "CUDA"}) {
    expect(Command("a", std::string("--device ") + bad), std::string("got '") + bad + "'");
  }
  expect(Command("a", "--device cuda"), "--device cuda: no GPU was found; check that its driver runs");
  expect(Command("a", "--device cuda:1"), "--device cuda:1: no GPU");
  for (const char* command : {"eval ", "generate --prompt x ", "logits --ids [1] "}) {
    expect(command + At("a") + " --device cuda", "no GPU was found");
  }
  EXPECT_FALSE(fs::exists(At("a")));
}

TEST_F(Training, TwoProcessesDoNotTrainInOnePlace) {
  Process first(Command("a", "--set train.steps=100000"));
  ASSERT_TRUE(WaitFor(At("a") + "/metrics.jsonl"));
  const Result second = RunTra(Command("a", "--resume --set train.steps=100000"));
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(Contains(second.err, "another process is training there")) << second.err;
  first.Kill(SIGTERM);
  EXPECT_EQ(first.Wait(), 3);
}

TEST_F(Training, AFullDiskEndsTheRunAndRoomLetsItGoOn) {
  ASSERT_EQ(RunTra(Command("whole")).code, 0);
  // Limits files to 32 KiB, which the checkpoints of this model exceed.
  const Result full = RunTra(Command("full"), "", "ulimit -f 64; trap '' XFSZ;");
  EXPECT_EQ(full.code, 1);
  EXPECT_TRUE(Contains(full.err, "make room")) << full.err;
  EXPECT_EQ(RunTra(Command("full", "--resume")).code, 0);
  EXPECT_TRUE(Outcome("full") == Outcome("whole"));
}

TEST_F(Training, ATargetEndsARunEarly) {
  // With only the letters a and b, the one beside a trigger is always b.
  const Result result = RunTra(Command("a",
                                       "--set train.steps=100000 --set train.target=1 --set train.target_evals=2 "
                                       "--set data.task=flipflop++ --set data.symbols=2 --set data.lengths=[3,9]"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Contains(ReadBytes(At("a") + "/DONE"), "target reached"));
  // As if killed while the model was scored: it is not trained any further.
  const json results = json::parse(ReadBytes(At("a") + "/results.json"));
  fs::remove(At("a") + "/DONE");
  fs::remove(At("a") + "/results.json");
  EXPECT_EQ(RunTra("train " + At("a") + " --resume --threads 1 --quiet").code, 0);
  EXPECT_EQ(json::parse(ReadBytes(At("a") + "/results.json")), results);
  EXPECT_TRUE(Contains(ReadBytes(At("a") + "/DONE"), "target reached"));
  const Result never = RunTra(Command("b", "--set train.target=1 --set train.eval_every=0"));
  EXPECT_EQ(never.code, 2);
  EXPECT_TRUE(Contains(never.err, "set train.eval_every")) << never.err;
}

// Returns the logged losses of a run, in the order of steps.
std::vector<double> Losses(const std::string& run) {
  std::vector<double> losses;
  std::istringstream lines(ReadBytes(run + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json values = json::parse(line);
    if (values.contains("train/loss")) losses.push_back(values["train/loss"]);
  }
  return losses;
}

// Starts processes as torchrun does, one per command.
std::vector<Process> Together(const std::vector<std::string>& commands) {
  const std::string port = FreePort();
  std::vector<Process> all;
  all.reserve(commands.size());
  for (const std::string& command : commands) {
    all.emplace_back(command, "RANK=" + std::to_string(all.size()) + " WORLD_SIZE=" + std::to_string(commands.size()) +
                                  " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port);
  }
  return all;
}

// Uses dropout of ten times the default, and label, which draws even without dropout: what is drawn must follow the
// examples. Some batches do not divide evenly among the processes, and one leaves a process without work.
TEST_F(Training, ProcessesTogetherTrainAsOneDoes) {
  for (const auto& [attention, batch] :
       std::vector<std::pair<std::string, int>>{{"tra", 16}, {"label", 7}, {"rope", 3}}) {
    const std::string set =
        "--set model.embedding_dropout=0.1 --set model.attention_dropout=0.1 "
        "--set model.mlp_dropout=0.1 --set model.attention=" +
        attention + " --set train.batch=" + std::to_string(batch);
    ASSERT_EQ(RunTra(Command(attention + "1", set)).code, 0);
    const std::vector<double> want = Losses(At(attention + "1"));
    ASSERT_EQ(want.size(), 21u);  // the first step and every third
    for (const size_t size : {2, 4}) {
      const std::string run = attention + std::to_string(size);
      for (Process& each : Together({size, Command(run, set)})) EXPECT_EQ(each.Wait(), 0);
      const std::vector<double> got = Losses(At(run));
      ASSERT_EQ(got.size(), want.size());
      // fp32 sums in another order, over 60 steps; the largest difference seen over all nine variants is 8.4e-8.
      for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6 * want[i]) << run << " " << i;
    }
  }
}

TEST_F(Training, ALostProcessEndsTheOthersAndAnotherNumberGoesOn) {
  const std::string set = "--set train.keep=20";
  ASSERT_EQ(RunTra(Command("one", set)).code, 0);
  {
    std::vector<Process> two = Together({2, Command("many", set)});
    ASSERT_TRUE(WaitFor(At("many") + "/checkpoints/step-4"));
    two[1].Kill(SIGKILL);
    EXPECT_EQ(two[1].Wait(), -SIGKILL);
    EXPECT_EQ(two[0].Wait(), 1);
    EXPECT_TRUE(fs::exists(At("many") + "/FAILED"));
  }
  for (Process& each : Together({4, Command("many", set + " --resume")})) EXPECT_EQ(each.Wait(), 0);
  const std::vector<double> want = Losses(At("one")), got = Losses(At("many"));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6 * want[i]) << i;
}

TEST_F(Training, ProcessesOfAnotherConfigurationAreRefused) {
  for (Process& each : Together({Command("other"), Command("other", "--set train.lr=0.1")})) EXPECT_EQ(each.Wait(), 1);
  EXPECT_FALSE(fs::exists(At("other") + "/checkpoints"));
}

}  // namespace
}  // namespace tra
