#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/models.h"
#include "tests/report/pixels.h"

namespace tra {
namespace {

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::string Train(const TemporaryDirectory& directory, const std::string& attention,
                  const std::string& task = "flipflop") {
  const std::string run = directory / (task + "-" + attention);
  TrainTiny(run, "attention = \"" + attention + "\"\n[data]\ntask = \"" + task + "\"\nlengths = [3, 3]");
  return run;
}

TEST(Heatmap, DrawsAnExampleAtLength16And512) {
  const TemporaryDirectory directory;
  const std::string run = Train(directory, "tra"), out = directory / "a.svg";
  for (const std::string length : {"8", "256"}) {
    const Result result = RunTra("heatmap " + run + " --length " + length + " --out " + out);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "wrote " + out + "\n");
    const std::string svg = ReadBytes(out);
    EXPECT_EQ(Count(svg, "<image class=\"matrix\""), 3U);
    EXPECT_TRUE(Contains(svg, ">tra, layer 0 of 0 to 0, head 0, step 2 (" + run + "); predicts "));
    EXPECT_TRUE(Contains(
        svg, "Attention on flipflop, split iid, example 0: " + std::to_string(2 * std::stoi(length)) + " tokens"));
    EXPECT_TRUE(Contains(svg, "dropped by the threshold: weight exactly 0"));
    EXPECT_TRUE(Contains(svg, "before an answer"));
  }
}

TEST(Heatmap, TheSameCommandDrawsTheSamePicture) {
  const TemporaryDirectory directory;
  const std::string run = Train(directory, "fot"), a = directory / "a.png", b = directory / "b.png";
  ASSERT_EQ(RunTra("heatmap " + run + " --index 1 --length 8 --out " + a).code, 0);
  ASSERT_EQ(RunTra("heatmap " + run + " --index 1 --length 8 --split iid --out " + b).code, 0);
  EXPECT_EQ(ReadBytes(a), ReadBytes(b));
  EXPECT_GT(DecodePng(ReadBytes(a)).width, 1000U);
}

TEST(Heatmap, TypedSymbolsAllHeadsAPartAndSeveralRuns) {
  const TemporaryDirectory directory;
  const std::string tra = Train(directory, "tra"), diff = Train(directory, "diff"), out = directory / "a.svg";
  const Result result = RunTra("heatmap " + tra + " " + diff + " --text 'w1 i0 i1 r' --queries 2..6 --keys 1..4 " +
                               "--head 0 --scale linear --out " + out);
  ASSERT_EQ(result.code, 0) << result.err;
  std::string svg = ReadBytes(out);
  EXPECT_EQ(Count(svg, "<image class=\"matrix\""), 8U);  // 3 of tra, 3 and 2 of diff
  EXPECT_TRUE(Contains(svg, "typed flipflop: 7 tokens"));
  EXPECT_FALSE(Contains(svg, "square-root"));
  EXPECT_FALSE(Contains(svg, "before an answer"));  // nobody says what the answers are
  ASSERT_EQ(RunTra("heatmap " + tra + " --text w1r --head all --out " + out).code, 0);
  EXPECT_EQ(Count(ReadBytes(out), "<image class=\"matrix\""), 6U);
}

TEST(Heatmap, ModelsWithPositionsReadTheLongestExampleUpToItsLastToken) {
  const TemporaryDirectory directory;
  const std::string run = Train(directory, "ape"), out = directory / "a.svg";
  const Result result = RunTra("heatmap " + run + " --out " + out);
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string svg = ReadBytes(out);
  EXPECT_TRUE(Contains(svg, "example 0: 511 tokens"));
  EXPECT_TRUE(Contains(svg, "; predicts "));
}

TEST(Heatmap, BadInputSaysWhatToDo) {
  const TemporaryDirectory directory;
  const std::string run = Train(directory, "ape"), out = " --out " + (directory / "a.svg");
  const auto expect = [&](const std::string& arguments, int code, const std::string& said) {
    const Result result = RunTra("heatmap " + arguments);
    EXPECT_EQ(result.code, code) << arguments << ": " << result.err;
    EXPECT_TRUE(Contains(result.err, said)) << arguments << ": " << result.err;
    EXPECT_FALSE(std::filesystem::exists(directory / "a.svg"));
  };
  expect((directory / "none") + out, 1, "is not the folder of a run");
  expect(run + " --length 4 --layer 1" + out, 2, "there is no layer 1; there is only 0");
  expect(run + " --length 4 --head 2" + out, 2, "there is no head 2; there are 0 to 1");
  expect(run + " --length 4 --head first" + out, 2, "--head must be a number or all, got 'first'");
  expect(run + " --split spars" + out, 2, "did you mean 'sparse'?");
  expect(run + " --length 300" + out, 2, "give a shorter input");
  expect(run + " --length 1" + out, 2, "2");
  expect(run + " --text w1x" + out, 2, "unknown symbol of flipflop 'x'");
  expect(run + " --text ' '" + out, 2, "--text names no tokens");
  expect(run + " --text w1r --index 0" + out, 2, "give either --text, or an example");
  expect(run + " --length 4 --queries 3..8" + out, 2,
         "--queries 3..8 is not within the input, whose positions are 0..7");
  expect(run + " --length 4 --keys 3-4" + out, 2, "--keys must be a position or a range such as 8..31, got '3-4'");
  expect(run + " --out " + (directory / "a.gif"), 2, "pictures are saved as .svg or .png");
  expect(run + " " + Train(directory, "tra", "copy") + out, 2, "does not read the input of");
  std::filesystem::remove_all(run + "/checkpoints");
  expect(run + out, 1, "has no checkpoint yet; train it first");
  expect(Train(directory, "tra") + " --length 600" + out, 2, "choose a part, such as --queries 0..1023");
}

}  // namespace
}  // namespace tra
