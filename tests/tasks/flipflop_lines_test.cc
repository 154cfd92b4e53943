#include "tra/tasks/flipflop_lines.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "tests/base/files.h"

namespace tra {
namespace {

std::string ErrorOfFile(const std::string& path) {
  try {
    const FlipflopLines lines(path);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    return what.substr(what.find("/f:") + 1);
  }
  return "no error";
}

// Returns the error of opening a file with this text.
std::string Error(const std::string& text) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "f") << text;
  return ErrorOfFile(directory / "f");
}

TEST(FlipflopLines, ReadsOneSequenceALine) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "f") << "# comment\nw1i0i1r1\n\r\nw0r0w1i1r1\r\nw1r1";  // no newline at the end
  const FlipflopLines lines(directory / "f");
  ASSERT_EQ(lines.Size(), 3u);
  EXPECT_EQ(lines.At(0).tokens, (std::vector<int32_t>{1, 5, 3, 4, 3, 5, 2, 5}));
  EXPECT_EQ(lines.At(0).supervised, (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(lines.At(1).supervised, (std::vector<uint8_t>{0, 0, 0, 1, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(lines.At(2).tokens.size(), 4u);
  EXPECT_THROW(lines.At(3), std::out_of_range);
  // The drawn instructions are i0 i1 of the first line and r0 w1 i1 of the second.
  EXPECT_EQ(lines.counts().ignore, 3);
  EXPECT_EQ(lines.counts().write, 1);
  EXPECT_EQ(lines.counts().read, 1);
  EXPECT_EQ(lines.counts().shortest, 4u);
  EXPECT_EQ(lines.counts().longest, 10u);
  EXPECT_DOUBLE_EQ(lines.IgnoreRate(), 0.6);
}

TEST(FlipflopLines, ErrorsHaveTheLineAndWhatWouldBeRight) {
  EXPECT_EQ(Error("w1r1\n\nw1x0r1\n"), "f:3: symbol 3 is 'x', but instructions are w, r and i");
  EXPECT_EQ(Error("w1r1\nw2r1\n"), "f:2: symbol 2 is '2', but a bit, 0 or 1, follows an instruction");
  EXPECT_EQ(Error("i1r1"), "f:1: symbol 1 is 'i', but the first instruction must be w");
  EXPECT_EQ(Error("w1i0r0"), "f:1: symbol 6 is '0', but the bit after r must be the last written, '1'");
  EXPECT_EQ(Error("w1i0"), "f:1: symbol 3 begins the last instruction, which must be r");
  EXPECT_EQ(Error("w1r1r"), "f:1: symbol 5 is the last, but a bit must follow an instruction; is the line cut?");
  EXPECT_EQ(Error("w1"), "f:1: symbol 2 is the last, but a sequence needs a w and an r at least");
  EXPECT_EQ(Error(std::string("w1r1\nw\0r1", 9)), "f:2: symbol 2 is byte 0, but a bit, 0 or 1, follows an instruction");
  EXPECT_EQ(Error("# nothing\n\n"), "f: holds no sequence; expected lines such as w1i0i1r1, one sequence each");
  EXPECT_EQ(Error(""), "f: holds no sequence; expected lines such as w1i0i1r1, one sequence each");
}

TEST(FlipflopLines, AreReadInBlocksThatCutNoLine) {
  const TemporaryDirectory directory;
  std::string line = "w1", text = "# ";
  while (line.size() < 700'000) line += "i0";
  line += "r1";
  text.resize(1'000'000, '-');
  text += "\n" + line + "\n\n" + line + "\n" + line + line.substr(2) + "\nw0r0";
  std::ofstream(directory / "f") << text;
  const FlipflopLines lines(directory / "f");
  ASSERT_EQ(lines.Size(), 4u);
  EXPECT_EQ(lines.At(0).tokens.size(), line.size());
  EXPECT_EQ(lines.At(1).tokens, lines.At(0).tokens);
  EXPECT_EQ(lines.At(2).tokens.size(), 2 * line.size() - 2);
  EXPECT_EQ(lines.At(3).tokens, (std::vector<int32_t>{1, 4, 2, 4}));
}

TEST(FlipflopLines, ALineWithoutEndIsRefused) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "f") << "w1r1\n#";
  std::filesystem::resize_file(directory / "f", 100'000'000);  // takes no room on the disk
  EXPECT_NE(ErrorOfFile(directory / "f").find("f:2: is longer than 67108864 bytes"), std::string::npos);
}

TEST(FlipflopLines, WhatIsTruncatedOrChangedMeanwhileIsAnError) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "f") << "w1r1\nw1i0r1\n";
  const FlipflopLines lines(directory / "f");
  std::ofstream(directory / "f", std::ios::in) << "w1xx";
  EXPECT_THROW(lines.At(0), std::runtime_error);
  EXPECT_EQ(lines.At(1).tokens.size(), 6u);
  std::filesystem::resize_file(directory / "f", 6);
  EXPECT_THROW(lines.At(1), std::runtime_error);
}

}  // namespace
}  // namespace tra
