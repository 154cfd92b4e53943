#include "tra/base/folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/base/files.h"
#include "tra/base/system_error.h"

namespace tra {
namespace {

TEST(Folder, OnlyOneThatDoesNotExistIsEmptyWithoutBeing) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(ListFolder(directory / "none").empty());
  EXPECT_FALSE(Exists(directory / "none"));
  std::ofstream(directory / "b") << "x";
  std::ofstream(directory / "a") << "x";
  std::vector<std::string> names = ListFolder(directory / "");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_THROW(ListFolder(directory / "a"), SystemError);  // not a folder
  std::filesystem::create_symlink("loop", directory / "loop");
  EXPECT_THROW(ListFolder(directory / "loop"), SystemError);
  EXPECT_THROW(Exists(directory / "loop"), SystemError);
}

}  // namespace
}  // namespace tra
