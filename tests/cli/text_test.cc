#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.h"

namespace tra {
namespace {

using nlohmann::json;

// Makes a corpus of three small texts, with its own cache.
struct Place {
  Place() {
    std::filesystem::create_directory(directory / "corpus");
    std::string text;
    for (int i = 0; i < 300; ++i) text += "the cat and the other cat sat on mat " + std::to_string(i % 7) + " .\n";
    for (const char* split : {"train", "valid", "test"}) {
      std::ofstream(directory / ("corpus/" + std::string(split) + ".txt")) << text;
    }
  }

  std::string corpus() const { return directory / "corpus"; }
  std::string cache() const { return " --cache " + (directory / "cache"); }

  TemporaryDirectory directory;
};

TEST(Tokenize, BytesGoToIdsAndBack) {
  EXPECT_EQ(RunTra("tokenize", "Hi\n").out, "[72,105,10]\n");
  EXPECT_EQ(RunTra("tokenize", "").out, "[]\n");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(RunTra("tokenize --decode", RunTra("tokenize", all).out).out, all);
}

TEST(Tokenize, BadInputSaysWhatIsExpected) {
  const auto expect = [](const Result& result, int code, const std::string& said) {
    EXPECT_EQ(result.code, code) << said;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
    EXPECT_EQ(result.out, "");
  };
  expect(RunTra("tokenize --decode", "[1, 2"), 1, "; expected a JSON array of ids");
  expect(RunTra("tokenize --decode", "{}"), 1, "is not an array");
  expect(RunTra("tokenize --decode", "[1, \"x\"]"), 1, "element 1 is \"x\"");
  expect(RunTra("tokenize --decode", "[1, -1]"), 1, "element 1 is -1");
  expect(RunTra("tokenize --decode", "[1, 4294967297]"), 1, "element 1 is 4294967297");
  expect(RunTra("tokenize --decode", "[256]"), 2, "256");
  expect(RunTra("tokenize --tokenizer gtp2"), 2, "did you mean 'gpt2'?");
  expect(RunTra("tokenize --tokenizer gpt2"), 2, "scripts/get_gpt2.sh");
  expect(RunTra("tokenize --tokenizer gpt2 --files /nowhere"), 1, "scripts/get_gpt2.sh");
}

TEST(Text, ABpeIsLearntUsedAndLookedAt) {
  const Place place;
  const std::string bpe = place.directory / "bpe";
  const Result learnt = RunTra("data learn-bpe " + place.corpus() + " --vocabulary 280 --out " + bpe);
  ASSERT_EQ(learnt.code, 0) << learnt.err;
  EXPECT_TRUE(Contains(learnt.out, "learnt 23 merges")) << learnt.out;
  const std::string with = " --tokenizer bpe --files " + bpe;
  const std::string ids = RunTra("tokenize" + with, "the cat").out;
  EXPECT_LT(json::parse(ids).size(), 5u);
  EXPECT_EQ(RunTra("tokenize --decode" + with, ids).out, "the cat");

  const Result prepared = RunTra("data prepare " + place.corpus() + with + place.cache() + " --json");
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  const json counts = json::parse(prepared.out);
  EXPECT_EQ(counts.at("vocabulary"), 280);
  EXPECT_EQ(counts["splits"]["train"]["words"], 300 * 11);
  EXPECT_EQ(counts["splits"]["valid"]["lines"], 300);
  EXPECT_TRUE(std::filesystem::exists(counts["splits"]["test"]["cache"].get<std::string>()));
  EXPECT_TRUE(Contains(prepared.err, "tokenising")) << prepared.err;
  EXPECT_EQ(RunTra("data prepare " + place.corpus() + with + place.cache() + " --json").err, "");  // already cached

  const Result window =
      RunTra("data window " + place.corpus() + with + place.cache() + " --split valid --length 8 --stride 4 --index 1");
  ASSERT_EQ(window.code, 0) << window.err;
  EXPECT_TRUE(Contains(window.out, "evaluation window 1 of")) << window.out;
  EXPECT_TRUE(Contains(window.out, "scored from target 4")) << window.out;
}

TEST(Text, WindowsShowTheTextTokenByToken) {
  const Place place;
  const Result window =
      RunTra("data window " + place.corpus() + place.cache() + " --split test --length 4 --stride 4 --index 0");
  EXPECT_TRUE(Contains(window.out, "\nt|h|e| |c\n")) << window.out;  // four inputs and the last target
  const Result controls = RunTra("data window " + place.corpus() + place.cache() + " --length 60 --index 3");
  EXPECT_TRUE(Contains(controls.out, "|\\n|")) << controls.out;
}

TEST(Text, BadCorporaSayWhatToDo) {
  const Place place;
  const auto expect = [&](const std::string& arguments, int code, const std::string& said) {
    const Result result = RunTra(arguments + place.cache());
    EXPECT_EQ(result.code, code) << arguments << ": " << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << result.err;
  };
  expect("data prepare " + (place.directory / "none"), 1, "none");
  expect("data window " + place.corpus() + " --split tset", 2, "tset");
  expect("data window " + place.corpus() + " --length 1000000", 2, "1000000");
  expect("data window " + place.corpus() + " --length 4 --stride 5", 2, "stride");
  std::ofstream(place.directory / "corpus/train.txt") << "";
  expect("data prepare " + place.corpus(), 1, "empty");
  std::ofstream(place.directory / "corpus/train.txt", std::ios::binary) << "text\nand \xff\xfe bytes";
  expect("data prepare " + place.corpus(), 1, "UTF-8");
  std::filesystem::remove(place.directory / "corpus/train.txt");
  expect("data window " + place.corpus() + " --split train", 1, "train.txt");
}

}  // namespace
}  // namespace tra
