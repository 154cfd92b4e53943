// Gives the program what no user should: endless and nested input, pipes, closed streams, numbers beyond all bounds.
// None of it may crash it, keep it waiting or look like success.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/cli/models.h"
#include "tests/cli/run.h"

namespace tra {
namespace {

constexpr char kInTime[] = "timeout 60 ";  // ends with 124 what waits for ever

void Expect(const Result& result, int code, const std::string& said) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_TRUE(Contains(result.err, said)) << result.err.substr(0, 1000);
  EXPECT_LT(result.err.size(), 5000u);
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

class Hostile : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& bytes) {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
  }
  std::string Pipe(const std::string& name) {
    EXPECT_EQ(mkfifo((directory_ / name).c_str(), 0666), 0);
    return directory_ / name;
  }

  TemporaryDirectory directory_;
};

TEST_F(Hostile, NestedJsonIsRefused) {
  const std::string deep = Repeated("[", 200'000) + Repeated("]", 200'000);
  Expect(RunTra("tokenize --decode", deep), 1, "standard input: is nested more than 64 deep; expected a JSON array");
  Expect(RunTra("tokenize --decode", Repeated("[{\"a\":", 100'000)), 1, "is nested more than 64 deep");
  const std::string model = directory_ / "model.safetensors";
  SaveModel(*TinyModel("tra", 6), model);
  Expect(RunTra("logits " + model, deep), 1, "standard input: is nested more than 64 deep");
  Put("results.json", Repeated("{\"a\":", 200'000));
  Expect(RunTra("table " + (directory_ / "results.json")), 1, "results.json: is nested more than 64 deep");
  Put("encoder.json", Repeated("{\"a\":", 200'000));
  Put("vocab.bpe", "");
  Expect(RunTra("tokenize --tokenizer bpe --files " + (directory_ / ""), "x"), 1, "is nested more than 64 deep");
}

TEST_F(Hostile, NestedAndEndlessConfigurationsAreRefused) {
  Put("deep.toml", Repeated("a.", 31'000) + "a = 1\n");
  Expect(RunTra("train " + (directory_ / "deep.toml")), 2, "deep.toml:1: is nested too deep");
  Expect(RunTra("sweep " + (directory_ / "deep.toml")), 2, "deep.toml:1: is nested too deep");
  Put("long.toml", "\"" + std::string(5'000'000, 'x') + "\" = 1\n");
  Expect(RunTra("train " + (directory_ / "long.toml"), "", kInTime), 2, "has 5000007 bytes, more than the 1048576");
  for (const std::string command : {"train ", "sweep "}) {
    Expect(RunTra(command + "/dev/zero", "", kInTime), 2, "/dev/zero: is not a regular file");
    Expect(RunTra(command + "'" + Pipe(command) + "'", "", kInTime), 2, "is not a regular file");
  }
}

TEST_F(Hostile, PipesAreNotWaitedFor) {
  const std::string pipe = Pipe("pipe"), model = directory_ / "model.safetensors";
  SaveModel(*TinyModel("tra", 256), model);
  Expect(RunTra("logits " + pipe + " --ids '[1]'", "", kInTime), 1, "pipe: is not the folder of a run");
  Expect(RunTra("generate " + model + " --tokenizer bytes --prompt-file " + pipe, "", kInTime), 1,
         "pipe: is not a regular file");
  Expect(RunTra("data import " + pipe, "", kInTime), 1, "pipe: is not a regular file");
  Pipe("results.json");
  Expect(RunTra("table " + (directory_ / ""), "", kInTime), 1, "results.json");
}

TEST_F(Hostile, NumbersBeyondAllBoundsAreRefused) {
  for (const std::string number : {"18446744073709551616", "-1", "1e9", "0x10"}) {
    Expect(RunTra("data show copy --seed=" + number), 2, "--seed: must be a whole number in 0..18446744073709551615");
  }
  EXPECT_EQ(RunTra("data show copy --seed 18446744073709551615").code, 0);
  Expect(RunTra("data show copy --index 18446744073709551616"), 2, "--index: must be a whole number in 0..");
  Expect(RunTra("data export copy --count 99999999999999999999"), 2,
         "--count: must be a whole number in 0..1000000000");
  Expect(RunTra("eval none --examples 0"), 2, "--examples: must be a whole number in 1..1000000000, got '0'");
  for (const std::string threads : {"1e9", "99999999999999999999"}) {
    Expect(RunTra("eval none --threads " + threads), 2, "--threads");
  }
}

// Runs the program with its streams redirected, as in ">/dev/full".
Result Redirected(const std::string& arguments, const std::string& redirection) {
  return RunTra(arguments, "", "sh -c '\"$0\" \"$@\" " + redirection + "' ");
}

TEST_F(Hostile, WhatCannotBeWrittenIsAFailure) {
  Put("c.toml", "");
  Put("s.toml", "configs = [\"c.toml\"]\nseeds = [1]\nfolder = \"runs\"\n");
  const std::string config = directory_ / "c.toml", sweep = directory_ / "s.toml";
  for (const std::string& arguments : {std::string("--help"), std::string("--version"), std::string("train --help"),
                                       std::string("data show copy"), std::string("data export copy --count 2"),
                                       "train " + config + " --print-config", "sweep " + sweep + " --list"}) {
    SCOPED_TRACE(arguments);
    Expect(Redirected(arguments, ">/dev/full"), 1, "cannot write");
  }
}

TEST_F(Hostile, FilesDoNotTakeThePlaceOfClosedStreams) {
  Expect(Redirected("tokenize", "<&-"), 1, "standard input: cannot be read");
  Expect(Redirected("list", ">&-"), 1, "cannot write");
  // Without care the first files that are opened get the numbers of the streams, and with them the messages.
  const std::string out = directory_ / "out.jsonl", run = directory_ / "run";
  EXPECT_EQ(Redirected("data export copy --count 2 --out " + out, "<&- >&- 2>&-").code, 0);
  EXPECT_EQ(ReadBytes(out), RunTra("data export copy --count 2").out);
  Put("tiny.toml",
      "[model]\nlayers = 1\nheads = 1\nwidth = 8\n[data]\ntask = \"copy\"\nlengths = [4, 8]\n[train]\nsteps = 2\n"
      "batch = 2\nlog_every = 1\n[eval]\nexamples = 2\nsplits = [\"iid\"]\n");
  EXPECT_EQ(Redirected("train " + (directory_ / "tiny.toml") + " --threads 1 --run " + run, "<&- >&- 2>&-").code, 0);
  std::ifstream lines(run + "/metrics.jsonl");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_EQ(line.rfind("{\"step\":", 0), 0u) << line;
  EXPECT_GE(count, 2);
  EXPECT_FALSE(
      Contains(ReadBytes(run + "/events.out.tfevents.0.tra"), "tokens/s"));  // stands in lines of progress only
}

TEST_F(Hostile, MessagesDoNotControlTheTerminal) {
  Put("c.toml", "\"a\\u001b[31m\\u0007\" = 1\n");
  const Result result = RunTra("train " + (directory_ / "c.toml"));
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err.find_first_of("\x1b\x07"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace tra
