#include "tra/text/text_check.h"

#include <gtest/gtest.h>

#include "tests/text/texts.h"

namespace tra {
namespace {

// Returns the offset of the first fault, or -1 for text.
int64_t FaultAt(std::string_view text) {
  const std::optional<TextFault> fault = FindTextFault(text);
  return fault ? static_cast<int64_t>(fault->offset) : -1;
}

TEST(FindTextFault, AcceptsUtf8) {
  std::mt19937_64 random(8);
  EXPECT_EQ(FaultAt(""), -1);
  EXPECT_EQ(FaultAt("\xEF\xBB\xBF with a mark"), -1);
  EXPECT_EQ(FaultAt("\xF4\x8F\xBF\xBF"), -1);  // U+10FFFF
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(FaultAt(RandomText(random, i)), -1);
}

TEST(FindTextFault, FindsTheFirstByteThatIsNotText) {
  EXPECT_EQ(FaultAt(std::string_view("ab\0\xFF", 4)), 2);
  EXPECT_EQ(FaultAt(std::string_view("ab\xFF\0", 4)), 2);
  EXPECT_EQ(FaultAt("caf\xE9 au lait"), 3);      // Latin-1
  EXPECT_EQ(FaultAt("ab\xE6\x97"), 2);           // cut off
  EXPECT_EQ(FaultAt("\xC0\xAF"), 0);             // overlong
  EXPECT_EQ(FaultAt("a\xED\xA0\x80"), 1);        // surrogate
  EXPECT_EQ(FaultAt("abc\xF4\x90\x80\x80"), 3);  // beyond U+10FFFF
}

TEST(ThrowTextFault, NamesTheLineTheByteAndTheRemedy) {
  const auto failure = [](std::string_view text) {
    return FailureOf([&] { ThrowTextFault("path", text, *FindTextFault(text)); });
  };
  EXPECT_EQ(
      failure("one\ntwo\ncaf\xE9"),
      "path: line 3, byte 11 is not UTF-8; convert it, for example with iconv -f LATIN1 -t UTF-8, or name another "
      "file");
  EXPECT_EQ(failure(std::string_view("\0", 1)),
            "path: line 1, byte 0 is NUL, so this is not text; name a file of plain text");
}

}  // namespace
}  // namespace tra
