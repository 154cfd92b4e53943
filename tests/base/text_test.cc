#include "tra/base/text.h"

#include <gtest/gtest.h>

namespace tra {
namespace {

TEST(Text, ControlsBecomeSpaces) {
  EXPECT_EQ(WithoutControls("a\tb\r\nc\x1b[31md\x7f"), "a b  c [31md ");
  EXPECT_EQ(WithoutControls("a\nb\rc", "\n"), "a\nb c");
  // U+009B, which some terminals take for ESC [.
  EXPECT_EQ(WithoutControls("\xc2\x9b[31m"), " [31m");
  EXPECT_EQ(WithoutControls("caf\xc3\xa9 \xc2\xa0 \xc2"), "caf\xc3\xa9 \xc2\xa0 \xc2");
  EXPECT_TRUE(HasControls("x\x7f"));
  EXPECT_FALSE(HasControls("no dropout, heads=4, \xc3\xa9"));
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc...");
  EXPECT_EQ(Shortened("ab\xc3\xa9", 3), "ab...");
}

TEST(Text, IsOneWordOfAShell) { EXPECT_EQ(ShellQuoted("it's\n$(x)"), "'it'\\''s\n$(x)'"); }

}  // namespace
}  // namespace tra
