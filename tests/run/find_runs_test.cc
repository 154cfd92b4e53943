#include "tra/run/find_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/base/files.h"

namespace tra {
namespace {

void Write(const std::string& file) {
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  std::ofstream(file) << "x";
}

TEST(FindRuns, FindsEachRunBelowFoldersOnce) {
  const TemporaryDirectory directory;
  for (const char* file : {"b/config.toml", "b/results.json", "a/one/results.json", "a/two/config.toml", "a/two.log"}) {
    Write(directory / file);
  }
  const std::vector<std::string> all = {directory / "a/one", directory / "a/two", directory / "b"};
  EXPECT_EQ(FindRuns({directory / ""}), all);
  EXPECT_EQ(FindRuns({directory / "b", directory / "a", directory / "a/two/"}), all);
  EXPECT_EQ(FindRuns({directory / "a/two"}), std::vector<std::string>{directory / "a/two"});
}

TEST(FindRuns, ReadsWhereASweepKeepsItsRuns) {
  const TemporaryDirectory directory;
  Write(directory / "runs/one/config.toml");
  std::ofstream(directory / "model.toml") << "[data]\ntask = \"copy\"\n";
  std::ofstream(directory / "sweep.toml")
      << "configs = [\"model.toml\"]\nattentions = [\"tra\"]\nseeds = [1]\nfolder = \"" << (directory / "runs")
      << "\"\n";
  EXPECT_EQ(FindRuns({directory / "sweep.toml"}), std::vector<std::string>{directory / "runs/one"});
}

TEST(FindRuns, SaysWhereThereIsNone) {
  const TemporaryDirectory directory;
  EXPECT_THROW(FindRuns({directory / ""}), std::runtime_error);
  EXPECT_THROW(FindRuns({directory / "none"}), std::runtime_error);
}

}  // namespace
}  // namespace tra
