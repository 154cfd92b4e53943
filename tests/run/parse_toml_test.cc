#include "tra/run/parse_toml.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <stdexcept>

#include "tests/base/files.h"

namespace tra {
namespace {

std::string Failure(const std::string& text) {
  try {
    ParseToml(text, "x.toml");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no failure";
}

bool IsTooDeep(const std::string& text) { return Failure(text).find("is nested too deep") != std::string::npos; }

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ParseToml, DeepKeysAreRefusedWithTheirLine) {
  const std::string deep = Repeated("a.", 31'000) + "a";
  EXPECT_EQ(Failure("\n" + deep + " = 1\n").find("x.toml:2: is nested too deep"), 0u);
  EXPECT_EQ(Failure("x = 1\n[" + deep + "]\n").find("x.toml:2: is nested too deep"), 0u);
  EXPECT_EQ(Failure(Repeated("a.", 16) + "a = 1\n"), "no failure");
}

TEST(ParseToml, NoStringAndNoCommentHidesADeepKey) {
  const std::string deep = Repeated("a.", 31'000) + "a = 1\n";
  for (const std::string before :
       {R"(s = "a\"b"  # ")", R"(s = "a\\")", "s = 'a\\'", "s = \"\"", "s = \"\"\"\n\"\" \"\"\"\"\"",
        "s = '''\n'' '''''", "s = \"\"\"\n\\\"\"\"\"", "# '''", "s = '''#'''", "s = \"#\""}) {
    EXPECT_TRUE(IsTooDeep(before + "\n" + deep)) << before;
  }
  for (const std::string part : {"\"=\".", "'#' . ", "'\\'.", "\"\\\"\"."}) {
    EXPECT_TRUE(IsTooDeep(Repeated(part, 31'000) + "a = 1\n")) << part;
  }
}

TEST(ParseToml, DeepValuesAreRefused) {
  EXPECT_TRUE(IsTooDeep("x = " + Repeated("[", 100'000)));
  EXPECT_TRUE(IsTooDeep("x = " + Repeated("{a = ", 100'000)));
  EXPECT_TRUE(IsTooDeep("x = " + Repeated("[\n{a.b.c.d = ", 1000)));
  EXPECT_EQ(Failure("x = " + Repeated("[", 32) + Repeated("]", 32)), "no failure");
}

TEST(ParseToml, DotsAndBracketsElsewhereDoNotCount) {
  const std::string dots = Repeated("../[", 100);
  for (const std::string& text : {"a = \"" + dots + "\"  # " + dots, "a = '''\n" + dots + "'''", "a = '" + dots + "'",
                                  "a = \"\"\"" + dots + "\\\"\"\"\"\"", "a = [" + Repeated("0.5, ", 1000) + "1.0]"}) {
    EXPECT_EQ(Failure(text + "\nb = 1\n"), "no failure") << text;
  }
  EXPECT_EQ(Failure(Repeated("[[a.b]]\nx = [[1.5], {y.z = 2}]\n", 1000)), "no failure");
}

TEST(ParseToml, LongTextsAreRefused) {
  EXPECT_NE(Failure(std::string(kMostTomlBytes + 1, '\n')).find("more than the 1048576 that are read"),
            std::string::npos);
}

TEST(ParseToml, WhatIsNoFileIsRefusedAsBadInput) {
  const TemporaryDirectory directory;
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0666), 0);
  EXPECT_THROW(ParseTomlFile(directory / "pipe"), std::invalid_argument);
  EXPECT_THROW(ParseTomlFile("/dev/zero"), std::invalid_argument);
  EXPECT_THROW(ParseTomlFile(directory / "none"), std::invalid_argument);
}

}  // namespace
}  // namespace tra
