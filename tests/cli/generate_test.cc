#include "tra/model/generate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/models.h"
#include "tra/base/checksum.h"

namespace tra {
namespace {

using nlohmann::json;

constexpr char kCopy[] = "[data]\ntask = \"copy\"\nlengths = [2, 4]\nsymbols = 5\n";

void Expect(const Result& result, int code, const std::string& said) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_TRUE(Contains(result.err, said)) << result.err;
  EXPECT_EQ(result.out, "");
}

// Replaces a run's model by one of the same shape that always predicts `token`.
void Replace(const std::string& run, int64_t token) {
  const std::string file = run + "/checkpoints/step-2/model.safetensors";
  SaveModel(*StubbornModel(LoadModel(file)->config, token), file);
  const std::string path = run + "/checkpoints/step-2/state.json";
  json state = json::parse(ReadBytes(path));
  state["sha256"]["model.safetensors"] = Sha256Hex(ReadBytes(file));
  std::ofstream(path) << state;
}

TEST(Generate, IdsOfAFileAreContinuedAsTheLibraryDoes) {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.safetensors";
  const auto model = TinyModel("tra", 11);
  SaveModel(*model, file);
  GenerateOptions options;
  options.new_tokens = 9;
  const at::Tensor prompt = at::tensor({1, 7, 5}, at::kLong).view({1, 3});
  for (const double temperature : {0.0, 2.0}) {
    options.sampling = {temperature, 4, 0.9, 12};
    const at::Tensor want = Generate(*model, prompt, options)[0];
    std::string text;
    for (int64_t i = 3; i < 12; ++i) text += (i > 3 ? " " : "") + std::to_string(want[i].item<int64_t>());
    const Result result = RunTra("generate " + file + " --ids '[1,7,5]' --tokens 9 --top-k 4 --top-p 0.9 --seed 12" +
                                 " --temperature " + std::to_string(temperature));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, text + "\n");
  }
}

TEST(Generate, SeveralContinuationsAreDrawnApart) {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.safetensors";
  SaveModel(*TinyModel("tra", 11), file);
  const std::string command = "generate " + file + " --ids '[1]' --tokens 20 --temperature 3 --count 3 ";
  const Result result = RunTra(command + "--json");
  ASSERT_EQ(result.code, 0) << result.err;
  const json said = json::parse(result.out);
  EXPECT_EQ(said.at("attention"), "tra");
  EXPECT_EQ(said.at("prompt"), json({1}));
  ASSERT_EQ(said.at("continuations").size(), 3u);
  EXPECT_NE(said["continuations"][0]["ids"], said["continuations"][1]["ids"]);
  EXPECT_EQ(said["continuations"][0]["ids"].size(), 20u);
  EXPECT_EQ(said["continuations"][0]["ended"], false);
  std::string lines;
  for (size_t i = 0; i < 3; ++i) {
    lines += (i > 0 ? "---\n" : "") + said["continuations"][i]["text"].get<std::string>() + "\n";
  }
  EXPECT_EQ(RunTra(command).out, lines);
  EXPECT_NE(RunTra(command + "--seed 1").out, lines);
  Expect(RunTra("generate " + file + " --ids '[1]' --count 2"), 2, "add --temperature 1");
}

TEST(Generate, SymbolsOfATaskAreReadAndWrittenByName) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  TrainTiny(run, kCopy);
  Replace(run, 4 + 3);  // after PAD, BOS, SEP and EOS
  const std::string command = "generate " + run + " --tokens 3";
  EXPECT_EQ(RunTra(command + " --prompt 'BOS 3 1 4 SEP'").out, "3 3 3\n");
  EXPECT_EQ(RunTra(command + " --prompt-file -", "BOS 3 1 4 SEP\n").out, "3 3 3\n");
  const json said = json::parse(RunTra(command + " --prompt 'BOS 3 1 4 SEP' --json").out);
  EXPECT_EQ(said.at("prompt"), json({1, 7, 5, 8, 2}));
  EXPECT_EQ(said["continuations"][0], json({{"text", "3 3 3"}, {"ids", {7, 7, 7}}, {"ended", false}}));

  Replace(run, 3);
  EXPECT_EQ(RunTra(command + " --prompt 'BOS 3 1 4 SEP'").out, "EOS\n");

  Expect(RunTra(command + " --prompt 'BOS 3 1 4 SEPP'"), 2, "unknown symbol of copy 'SEPP'; did you mean 'SEP'?");
  Expect(RunTra(command + " --prompt 'BOS 3 1 4 X SEP'"), 2, "unknown symbol of copy 'X'; see tra data show");
  Expect(RunTra(command + " --prompt 'BOS 7'"), 2, "unknown symbol of copy '7'");
  Expect(RunTra(command + " --ids '[1,9]'"), 2, "id 9 is not in the model's vocabulary; ids are 0..8");
  Expect(RunTra(command + " --prompt ' '"), 2, "the prompt is empty");
  Expect(RunTra(command), 2, "the prompt is empty; begin with --prompt");
  Expect(RunTra(command + " --prompt BOS --ids '[1]'"), 2, "give one of --prompt, --prompt-file and --ids");
  Expect(RunTra(command + " --prompt BOS --tokenizer bytes"), 2, "has 256 tokens, but the model has 9");
  Expect(RunTra(command + " --prompt BOS --temperature -1"), 2, "temperature must be at least 0");
}

TEST(Generate, FlipFlopNeedsNoBlanks) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  TrainTiny(run, "[data]\ntask = \"flipflop\"\nlengths = [3, 3]\n");
  Replace(run, 5);
  EXPECT_EQ(RunTra("generate " + run + " --prompt w1i0r --tokens 2").out, "11\n");
  Expect(RunTra("generate " + run + " --prompt w1x0r"), 2, "unknown symbol of flipflop 'x'");
}

TEST(Generate, TextNeedsTheTokenizerAndNotTheCorpus) {
  const TemporaryDirectory directory;
  const std::string corpus = directory / "corpus", bpe = directory / "bpe", run = directory / "run";
  std::filesystem::create_directory(corpus);
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat and the other cat sat on mat " + std::to_string(i) + "\n";
  for (const char* split : {"train", "valid", "test"}) std::ofstream(corpus + "/" + split + ".txt") << text;
  ASSERT_EQ(RunTra("data learn-bpe " + corpus + " --vocabulary 270 --out " + bpe).code, 0);
  TrainTiny(run, "[data]\ntask = \"text\"\ncorpus = \"" + corpus + "\"\ntokenizer = \"bpe\"\ntokenizer_files = \"" +
                     bpe + "\"\nwindow = 8\ncache = \"" + (directory / "cache") + "\"\n");
  std::filesystem::remove_all(corpus);
  std::filesystem::remove_all(directory / "cache");

  const std::string ids = RunTra("tokenize --tokenizer bpe --files " + bpe, "the").out;
  Replace(run, json::parse(ids)[0]);
  const std::string word = RunTra("tokenize --decode --tokenizer bpe --files " + bpe,
                                  "[" + std::to_string(json::parse(ids)[0].get<int>()) + "]")
                               .out;
  const Result result = RunTra("generate " + run + " --prompt 'the cat' --tokens 2");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, word + word + "\n");

  Replace(run, 269);  // the end of the text
  const json said = json::parse(RunTra("generate " + run + " --prompt 'the cat' --json").out);
  EXPECT_EQ(said["continuations"][0], json({{"text", ""}, {"ids", {269}}, {"ended", true}}));

  // --tokenizer and --files name the tokenizer of a bare file; --files also says where a run's files have moved.
  const std::string file = run + "/checkpoints/step-2/model.safetensors";
  EXPECT_EQ(RunTra("generate " + file + " --prompt the --tokenizer bpe --files " + bpe).out, "\n");
  std::filesystem::rename(bpe, directory / "moved");
  EXPECT_EQ(RunTra("generate " + run + " --prompt the --files " + (directory / "moved")).out, "\n");
  Expect(RunTra("generate " + file + " --prompt the"), 2, "name its tokenizer with --tokenizer and --files");
}

TEST(Generate, SequencesEndWhereAModelHasNoMorePositions) {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.safetensors";
  for (const char* attention : {"ape", "label"}) {
    SaveModel(*TinyModel(attention, 11), file);
    const std::string command = "generate " + file + " --ids '[1,2,3,4]' --json ";
    Expect(RunTra(command + "--tokens 21"), 2,
           "the prompt has 4 tokens and 21 more are wanted, but this " + std::string(attention) +
               " model has positions for 24");
    const Result most = RunTra(command + "--tokens 20"), unsaid = RunTra(command);
    ASSERT_EQ(most.code, 0) << most.err;
    EXPECT_EQ(json::parse(most.out)["continuations"][0]["ids"].size(), 20u);
    EXPECT_EQ(most.out, unsaid.out);
  }
}

TEST(Generate, HelpShowsAnExample) {
  const Result result = RunTra("generate --help");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(Contains(result.out, "Example: tra generate ")) << result.out;
}

}  // namespace
}  // namespace tra
