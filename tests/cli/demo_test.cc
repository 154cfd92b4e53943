// The demo, with steps too few to show anything but that its parts fit together.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run.h"

namespace tra {
namespace {

TEST(Demo, TrainsThreeModelsPrintsTheTableAndDrawsTheCurves) {
  const TemporaryDirectory directory;
  const std::string command = "demo --threads 1 --folder " + (directory / "runs") +
                              " --set model.width=16 --set train.steps=2 --set train.batch=1 --set train.eval_every=1"
                              " --set eval.examples=2 --set eval.quick_examples=1";
  const Result first = RunTra(command);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(Contains(first.out, "|  | RoPE | FoT | TRA |")) << first.out;
  EXPECT_TRUE(Contains(first.out, "| Flip-flop OOD (sparse) |")) << first.out;
  for (const char* attention : {"tra", "rope", "fot"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / "runs/" + std::string(attention) + "/DONE"));
  }
  for (const char* said : {"What to look for", "Runs: ", "Figure: "}) EXPECT_TRUE(Contains(first.out, said)) << said;
  EXPECT_TRUE(Contains(first.err, "training TRA, layers 2, heads 1, width 16, on flip-flop at a rate of 0.0003, in"));
  EXPECT_TRUE(Contains(first.err, "training RoPE, layers 2, heads 1, width 16, on flip-flop at a rate of 0.001, in"));
  const std::string svg = ReadBytes(directory / "runs/exact_match.svg");
  EXPECT_TRUE(Contains(svg, "TRA: ")) << svg;
  EXPECT_TRUE(Contains(svg, "sparse"));

  const Result again = RunTra(command);  // nothing is trained again
  EXPECT_EQ(again.out, first.out);
  EXPECT_FALSE(Contains(again.err, "scoring")) << again.err;

  const Result other = RunTra(command + " --set train.lr=0.5");  // which wins over the demo's own
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(Contains(other.err, "train.lr (0.5, was 0.0003); give this one another --folder")) << other.err;
}

}  // namespace
}  // namespace tra
