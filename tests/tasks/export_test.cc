#include "tra/tasks/export.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/base/files.h"
#include "tra/tasks/flipflop_lines.h"

namespace tra {
namespace {

using nlohmann::json;

TEST(Export, JsonlSaysWhatItIsAndHoldsTheExamples) {
  for (const Task& task : Tasks()) {
    const GeneratedExamples examples(task.name, "iid", 11);
    const json head = json::parse(JsonlHead(task, examples.names(), Origin(examples, 5, 3)));
    EXPECT_EQ(head.at("format"), "tra-examples");
    EXPECT_EQ(head.at("task"), task.name);
    EXPECT_EQ(head.at("split"), "iid");
    EXPECT_EQ(head.at("seed"), 11);
    const auto names = head.at("names").get<std::vector<std::string>>();
    for (uint64_t index = 5; index < 8; ++index) {
      const Example example = examples.At(index);
      const json line = json::parse(JsonlLine(example, index, task, examples.names()));
      EXPECT_EQ(line.at("index"), index);
      EXPECT_EQ(line.at("tokens").get<std::vector<int32_t>>(), example.tokens);
      std::vector<uint8_t> supervised(example.tokens.size(), 0);
      for (const size_t at : line.at("supervised").get<std::vector<size_t>>()) supervised.at(at) = 1;
      EXPECT_EQ(supervised, example.supervised);
      std::string text;
      for (const int32_t token : example.tokens) {
        text += (text.empty() ? "" : task.kind.separator) + names[static_cast<size_t>(token)];
      }
      EXPECT_EQ(line.at("text"), text);
      EXPECT_EQ(line.contains("group"), !task.kind.groups.empty());
    }
  }
}

TEST(Export, HeadsOfTextAreComments) {
  const GeneratedExamples examples("copy", "iid", 11);
  std::istringstream head(TextHead(examples.task(), examples.names(), Origin(examples, 0, 4)));
  bool seed = false;
  for (std::string line; std::getline(head, line);) {
    EXPECT_EQ(line.substr(0, 2), "# ");
    seed = seed || line == "# seed: 11";
  }
  EXPECT_TRUE(seed);
}

TEST(Export, FlipflopTextCanBeReadBack) {
  const TemporaryDirectory directory;
  const GeneratedExamples examples("flipflop", "sparse", 4);
  {
    std::ofstream file(directory / "lines.txt");
    file << TextHead(examples.task(), examples.names(), Origin(examples, 0, 20)) << "\n";
    for (uint64_t index = 0; index < 20; ++index) {
      file << ExampleText(examples.At(index), examples.task(), examples.names()) << "\n";
    }
  }
  const FlipflopLines lines(directory / "lines.txt");
  ASSERT_EQ(lines.Size(), 20u);
  for (uint64_t index = 0; index < 20; ++index) {
    EXPECT_EQ(lines.At(index).tokens, examples.At(index).tokens);
    EXPECT_EQ(lines.At(index).supervised, examples.At(index).supervised);
  }
}

}  // namespace
}  // namespace tra
