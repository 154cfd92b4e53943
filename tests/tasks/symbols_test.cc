#include "tra/tasks/symbols.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tra/tasks/export.h"

namespace tra {
namespace {

TEST(Symbols, AnExamplesTextGivesItsTokensBack) {
  for (const Task& task : Tasks()) {
    const GeneratedExamples examples(task.name, "iid", 3);
    const Example example = examples.At(5);
    EXPECT_EQ(ParseSymbols(ExampleText(example, task, examples.names()), task, examples.names()), example.tokens);
  }
}

TEST(Symbols, BlanksMayStandAnywhereBetweenNames) {
  const Task& task = FindTask("flipflop");
  const std::vector<std::string> names = task.kind.names(task.symbols);
  EXPECT_EQ(ParseSymbols("w1i0r", task, names), (std::vector<int32_t>{1, 5, 3, 4, 2}));
  EXPECT_EQ(ParseSymbols("\n w1 i0\tr \n", task, names), (std::vector<int32_t>{1, 5, 3, 4, 2}));
  EXPECT_TRUE(ParseSymbols(" \n", task, names).empty());
}

TEST(Symbols, TheLongestNameThatFitsIsTaken) {
  Task task = FindTask("flipflop");
  EXPECT_EQ(ParseSymbols("abaabb", task, {"a", "ab", "b"}), (std::vector<int32_t>{1, 0, 1, 2}));
}

TEST(Symbols, UnknownOnesAreNamedWithTheNearest) {
  const auto said = [](const std::string& text, const std::string& name) -> std::string {
    const Task& task = FindTask(name);
    try {
      ParseSymbols(text, task, task.kind.names(task.symbols));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said("BOS 3 SEPP", "copy"), "unknown symbol of copy 'SEPP'; did you mean 'SEP'? See tra data show copy");
  EXPECT_EQ(said("after-lst a", "flipflop++").substr(0, 66),
            "unknown symbol of flipflop++ 'after-lst'; did you mean 'after-last");
  EXPECT_EQ(said("w1xyzr0", "flipflop").substr(0, 33), "unknown symbol of flipflop 'xyz';");
}

}  // namespace
}  // namespace tra
