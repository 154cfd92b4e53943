// Trains the small configurations for a few steps each: they are what a new user trains first.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

TEST(SmallConfigurations, EachTrainsAndIsScored) {
  int trained = 0;
  for (const auto& each : fs::directory_iterator(TRA_CONFIGS "/small")) {
    const std::string name = each.path().stem().string();
    if (name == "text") continue;  // its corpus is the user's: text_test.cc makes one
    const TemporaryDirectory directory;
    const Result result = RunTra("train '" + each.path().string() + "' --run " + (directory / "run") +
                                 " --threads 1 --set train.steps=3 --set train.batch=2 --set eval.examples=2");
    EXPECT_EQ(result.code, 0) << name << ": " << result.err;
    const Result table = RunTra("table " + (directory / "run") + " --table solved");
    EXPECT_TRUE(Contains(table.out, "| TRA |")) << name << ": " << table.out;
    ++trained;
  }
  EXPECT_EQ(trained, 4);
}

}  // namespace
}  // namespace tra
