#include "tra/base/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/base/files.h"
#include "tra/base/checksum.h"

namespace tra {
namespace {

std::string Failure(const std::string& path, uint64_t most = 100) {
  try {
    ReadFile(path, most);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no failure";
}

TEST(InputFile, GivesTheBytesOfAFile) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "a") << std::string("x\0yz", 4);
  EXPECT_EQ(ReadFile(directory / "a", 4), std::string("x\0yz", 4));
  const InputFile file(directory / "a");
  char two[2];
  file.ReadAt(2, two, 2);
  EXPECT_EQ(std::string(two, 2), "yz");
  EXPECT_EQ(Sha256OfFile(file), Sha256Hex(std::string("x\0yz", 4)));
}

TEST(InputFile, LargerFilesThanAllowedAreNotRead) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "a") << "12345";
  EXPECT_EQ(Failure(directory / "a", 4),
            directory / "a" + ": has 5 bytes, more than the 4 that such a file may have; check the path");
  std::filesystem::resize_file(directory / "a", uint64_t{1} << 40);  // takes no room on the disk
  EXPECT_NE(Failure(directory / "a").find("more than the 100"), std::string::npos);
}

TEST(InputFile, PipesAndDevicesAreRefusedWithoutWaiting) {
  const TemporaryDirectory directory;
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0666), 0);
  EXPECT_EQ(Failure(directory / "pipe"), directory / "pipe" + ": is not a regular file; name a file");
  EXPECT_EQ(Failure("/dev/zero"), "/dev/zero: is not a regular file; name a file");
  EXPECT_EQ(Failure(directory / ""), directory / "" + ": is not a regular file; name a file");
  EXPECT_EQ(ReadFileIfAny(directory / "pipe", 100), std::nullopt);
  EXPECT_EQ(ReadFileIfAny(directory / "none", 100), std::nullopt);
}

TEST(InputFile, WhatIsTruncatedMeanwhileIsAnError) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "a") << std::string(100'000, 'x');
  const InputFile file(directory / "a");
  std::filesystem::resize_file(directory / "a", 10);
  char byte = 0;
  file.ReadAt(9, &byte, 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_THROW(file.ReadAt(99'999, &byte, 1), std::runtime_error);
  EXPECT_THROW(Sha256OfFile(file), std::runtime_error);
}

}  // namespace
}  // namespace tra
