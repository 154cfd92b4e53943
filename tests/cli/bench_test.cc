#include <gtest/gtest.h>

#include "tests/cli/run.h"

namespace tra {
namespace {

TEST(Bench, EveryHelpShowsAnExample) {
  for (const char* command :
       {"bench", "bench attention", "bench decode", "bench step", "bench products", "bench data"}) {
    const Result result = RunTra(std::string(command) + " --help");
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_TRUE(Contains(result.out, "Example: tra " + std::string(command))) << result.out;
  }
}

TEST(Bench, BadUsageIsTwo) {
  for (const char* arguments :
       {"bench", "bench attentoin", "bench attention --slow", "bench attention --only spede",
        "bench attention --loop-shape 1 8 4096", "bench attention --loop-shape 0 8 64 64", "bench decode --only stop",
        "bench step --size tiny", "bench step --attention rpoe", "bench data --rounds 0", "bench data --threads 1"}) {
    const Result result = RunTra(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_NE(result.err, "") << arguments;
  }
}

TEST(Bench, AttentionIsCheckedAndPrintedAsJson) {
  const Result result = RunTra("bench attention --only correctness --json -");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.substr(0, 1), "{");
}

}  // namespace
}  // namespace tra
