#include "tra/base/names.h"

#include <gtest/gtest.h>

namespace tra {
namespace {

const std::vector<std::string> kKnown = {"flipflop", "induct", "copy"};

TEST(Names, TheNearestIsOffered) {
  EXPECT_EQ(UnknownName("task", "copi", kKnown),
            "unknown task 'copi'; did you mean 'copy'? There are flipflop, induct, copy");
  EXPECT_NE(UnknownName("task", "cpoy", kKnown).find("did you mean 'copy'?"), std::string::npos);
  EXPECT_NE(UnknownName("task", "FlipFlop", kKnown).find("did you mean 'flipflop'?"), std::string::npos);
}

TEST(Names, AnotherWordIsNotTakenForATypo) {
  EXPECT_EQ(UnknownName("task", "parity", kKnown), "unknown task 'parity'; there are flipflop, induct, copy");
  EXPECT_EQ(UnknownName("task", "", kKnown), "unknown task ''; there are flipflop, induct, copy");
}

TEST(Names, ASingleLetterIsOfferedNothingButTheOtherCase) {
  EXPECT_EQ(UnknownName("symbol", "X", {"0", "1"}), "unknown symbol 'X'; there are 0, 1");
  EXPECT_EQ(UnknownName("symbol", "A", {"a", "b"}), "unknown symbol 'A'; did you mean 'a'? There are a, b");
}

// Comparing such a name letter by letter with each known one would take seconds.
TEST(Names, AVeryLongNameIsNeitherComparedNorRepeated) {
  const std::string name(5'000'000, 'x');
  EXPECT_EQ(UnknownName("task", name, std::vector<std::string>(500, "flipflop"), "tra list"),
            "unknown task '" + std::string(80, 'x') + "...'; see tra list");
}

}  // namespace
}  // namespace tra
