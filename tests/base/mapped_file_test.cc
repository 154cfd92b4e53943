#include "tra/base/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tests/base/files.h"
#include "tra/base/atomic_file.h"
#include "tra/base/system_error.h"

namespace tra {
namespace {

void Put(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.Write(bytes.data(), bytes.size());
  file.Commit();
}

std::string Failure(const std::string& path) {
  try {
    const MappedFile file(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no failure";
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const TemporaryDirectory directory;
  Put(directory / "a", std::string("x\0y", 3));
  MappedFile file(directory / "a");
  EXPECT_EQ(file.Bytes(), std::string_view("x\0y", 3));
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.Bytes().size(), 3u);
}

TEST(MappedFile, OfNoBytesIsEmpty) {
  const TemporaryDirectory directory;
  Put(directory / "a", "");
  EXPECT_TRUE(MappedFile(directory / "a").Bytes().empty());
}

TEST(MappedFile, KeepsItsBytesWhenAnotherFileTakesTheName) {
  const TemporaryDirectory directory;
  Put(directory / "a", "before");
  const MappedFile file(directory / "a");
  Put(directory / "a", "after");
  EXPECT_EQ(file.Bytes(), "before");
}

TEST(MappedFile, FailuresNameThePathAndTheRemedy) {
  const TemporaryDirectory directory;
  EXPECT_NE(Failure(directory / "none").find("none: cannot open: No such file or directory; check the path"),
            std::string::npos);
  EXPECT_NE(Failure(directory / ".").find("is not a regular file"), std::string::npos);
}

TEST(MappedFile, WhatTheSystemRefusesIsToldFromWhatIsMissing) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("loop", directory / "loop");
  const auto means_missing = [&](const char* name) {
    try {
      const MappedFile file(directory / name);
    } catch (const SystemError& error) {
      return error.MeansMissing();
    }
    throw std::logic_error("no SystemError");
  };
  EXPECT_TRUE(means_missing("none"));
  EXPECT_FALSE(means_missing("loop"));
}

}  // namespace
}  // namespace tra
