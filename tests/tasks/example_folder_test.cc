#include "tra/tasks/example_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/base/files.h"
#include "tra/tasks/export.h"
#include "tra/tasks/generated.h"

namespace tra {
namespace {

class Folder : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) const {
    std::ofstream(directory_ / file, std::ios::binary) << text;
  }
  ExampleFolder Open(int64_t vocabulary = 0) const { return ExampleFolder(directory_ / "", vocabulary); }
  // Returns what is said about the folder, from the name of the file on.
  std::string Said(int64_t vocabulary = 0) const {
    try {
      Open(vocabulary);
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).substr((directory_ / "").size());
    }
    return "nothing";
  }
  // Writes a file of one line after a sound one, and returns what is said about it.
  std::string SaidAbout(const std::string& line) const {
    Write("train.jsonl", std::string(kSound) + "\n" + line + "\n");
    return Said();
  }

  static constexpr char kSound[] = R"({"tokens": [1, 2, 3], "supervised": [2]})";
  TemporaryDirectory directory_;
};

TEST_F(Folder, WhatExportWritesIsReadAsItWas) {
  for (const char* task : {"flipflop", "copy", "flipflop++"}) {
    const GeneratedExamples train(task, "train", 1), iid(task, "iid", 1);
    for (const auto& [file, examples] : {std::pair{"train.jsonl", &train}, {"iid.jsonl", &iid}}) {
      std::string text = JsonlHead(train.task(), train.names(), Origin(*examples, 0, 20)) + "\n";
      for (uint64_t i = 0; i < 20; ++i) text += JsonlLine(examples->At(i), i, train.task(), train.names()) + "\n";
      Write(file, text);
    }
    const ExampleFolder folder = Open();
    EXPECT_EQ(folder.names(), train.names());
    EXPECT_EQ(folder.splits(), (std::vector<std::string>{"train", "iid"}));
    EXPECT_EQ(folder.groups().empty(), train.task().kind.groups.empty());
    EXPECT_EQ(folder.Split("iid")->Size(), 20u);
    int64_t longest = 0;
    for (uint64_t i = 0; i < 20; ++i) {
      const Example expected = iid.At(i), read = folder.Split("iid")->At(i);
      EXPECT_EQ(read.tokens, expected.tokens);
      EXPECT_EQ(read.supervised, expected.supervised);
      if (!folder.groups().empty()) {
        EXPECT_EQ(folder.groups()[static_cast<size_t>(read.group)],
                  train.task().kind.groups[static_cast<size_t>(expected.group)]);
      }
      EXPECT_EQ(folder.Split("iid")->Line(i), static_cast<int64_t>(i) + 2);  // after the head
      longest = std::max(longest, static_cast<int64_t>(expected.tokens.size()));
    }
    EXPECT_EQ(folder.Split("iid")->Longest(), longest);
    EXPECT_EQ(ReadTokenNames(directory_ / "", static_cast<int64_t>(train.names().size())), train.names());
  }
}

TEST_F(Folder, TheVocabularyIsThatOfTheHeadOrFoundOrGiven) {
  Write("train.jsonl", std::string(kSound) + "\n\n");
  EXPECT_EQ(Open().names(), (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(Open(6).names().size(), 6u);
  EXPECT_EQ(Said(3),
            "train.jsonl:1: tokens has 3, but ids are 0 to 2; name more tokens in the head, or set data.vocabulary");
  Write("train.jsonl", R"({"format": "tra-examples", "names": ["PAD", "a", "b", "c", "d"]})"
                       "\n" +
                           std::string(kSound));
  EXPECT_EQ(Open().names(), (std::vector<std::string>{"PAD", "a", "b", "c", "d"}));
  EXPECT_EQ(Open(6).names().back(), "5");
  EXPECT_EQ(Said(4), "train.jsonl: names 5 tokens, but data.vocabulary is 4");
  // What train.jsonl does not have must not come up later.
  Write("test.jsonl", R"({"tokens": [5, 1], "supervised": [1]})");
  EXPECT_EQ(Said(),
            "test.jsonl:1: tokens has 5, but ids are 0 to 4; name more tokens in the head, or set data.vocabulary");
  Write("test.jsonl", R"({"format": "tra-examples", "names": ["PAD", "b"]})"
                      "\n" +
                          std::string(kSound));
  EXPECT_EQ(Said().substr(0, 41), "test.jsonl: its head names other tokens t");
}

TEST_F(Folder, TrainingTakesEveryExampleOnceAnEpochInAnOrderOfTheSeed) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += R"({"tokens": [)" + std::to_string(i) + R"(, 0], "supervised": [1]})" + "\n";
  Write("train.jsonl", text);
  const auto file = Open().Split("train");
  const auto order = [&](uint64_t seed, uint64_t epoch) {
    std::vector<int32_t> tokens;
    for (uint64_t i = 30 * epoch; i < 30 * (epoch + 1); ++i) {
      tokens.push_back(ShuffledExamples(file, seed).At(i).tokens[0]);
    }
    return tokens;
  };
  std::set<std::vector<int32_t>> orders;
  for (const uint64_t seed : {1, 2}) {
    for (const uint64_t epoch : {0, 1}) {
      const std::vector<int32_t> tokens = order(seed, epoch);
      EXPECT_EQ(std::set<int32_t>(tokens.begin(), tokens.end()).size(), 30u);
      EXPECT_EQ(tokens, order(seed, epoch));
      orders.insert(tokens);
    }
  }
  EXPECT_EQ(orders.size(), 4u);
}

TEST_F(Folder, ErrorsNameTheLineAndWhatWouldBeRight) {
  const std::string expected = R"(; expected examples such as {"tokens": [1, 5, 2, 5], "supervised": [3]})";
  EXPECT_EQ(SaidAbout("{\"tokens\": [1,"), "train.jsonl:2: is not JSON from column 15 on" + expected);
  EXPECT_EQ(SaidAbout("[1, 2]"), "train.jsonl:2: is not an object" + expected);
  EXPECT_EQ(SaidAbout(R"({"supervised": [1]})"), "train.jsonl:2: has no tokens" + expected);
  EXPECT_EQ(SaidAbout(R"({"tokens": [1, 2]})"), "train.jsonl:2: has no supervised" + expected);
  EXPECT_EQ(SaidAbout(R"({"tokens": 1, "supervised": [1]})"), "train.jsonl:2: tokens is not an array" + expected);
  EXPECT_EQ(SaidAbout(R"({"tokens": [1, -1], "supervised": [1]})"),
            "train.jsonl:2: tokens has -1, but ids are 0 to 1048575");
  EXPECT_EQ(SaidAbout(R"({"tokens": [1, 2.5], "supervised": [1]})"),
            "train.jsonl:2: tokens has 2.5, but ids are 0 to 1048575");
  EXPECT_EQ(SaidAbout(R"({"tokens": [1, 18446744073709551615], "supervised": [1]})"),
            "train.jsonl:2: tokens has 18446744073709551615, but ids are 0 to 1048575");
  EXPECT_EQ(SaidAbout(R"({"tokens": [1], "supervised": []})"),
            "train.jsonl:2: an example needs at least 2 tokens: one to read, one to predict");
  EXPECT_EQ(SaidAbout(R"({"tokens": [1, 2], "supervised": []})"),
            "train.jsonl:2: supervised is empty, but an example needs an answer to be scored by");
  for (const char* position : {"0", "2"}) {
    EXPECT_EQ(SaidAbout(R"({"tokens": [1, 2], "supervised": [)" + std::string(position) + "]}"),
              "train.jsonl:2: supervised has " + std::string(position) +
                  ", but the positions of answers are 1 to 1; the first token is only read");
  }
  EXPECT_EQ(SaidAbout(R"({"tokens": [1, 2], "supervised": [1], "group": "a"})"),
            "train.jsonl:2: some examples have a group and some have none; give all of them one");
  EXPECT_EQ(SaidAbout(R"({"format": "tra-examples"})"), "train.jsonl:2: is a head, which only the first line may be");
}

TEST_F(Folder, HeadsAndGroupsMustFit) {
  Write("train.jsonl", R"({"format": "other"})");
  EXPECT_EQ(Said(), R"(train.jsonl:1: the format is "other"; expected "tra-examples", or no head at all)");
  Write("train.jsonl", R"({"format": "tra-examples", "names": ["a", "a"]})");
  EXPECT_EQ(Said(), R"(train.jsonl:1: two tokens have the name "a")");
  Write("train.jsonl", R"({"format": "tra-examples", "names": ["a", "b c"]})");
  EXPECT_EQ(Said(),
            R"(train.jsonl:1: the name "b c" of token 1 must be a string without blanks and control characters)");
  Write("train.jsonl", R"({"format": "tra-examples", "names": ["a", "\u001b[2J"]})");
  EXPECT_EQ(Said(),
            R"(train.jsonl:1: the name "\u001b[2J" of token 1 must be a string without blanks and control characters)");
  Write("train.jsonl", R"({"tokens": [1, 2], "supervised": [1], "group": "\u0007"})");
  EXPECT_EQ(Said(), R"(train.jsonl:1: the group "\u0007" must be a name without control characters)");
  Write("train.jsonl", R"({"format": "tra-examples"})");
  EXPECT_EQ(Said().substr(0, 30), "train.jsonl: holds no example;");
  Write("train.jsonl", R"({"tokens": [1, 2], "supervised": [1], "group": 3})");
  EXPECT_EQ(Said(), "train.jsonl:1: group must be a name, got 3");
  Write("train.jsonl", kSound);
  Write("test.jsonl", R"({"tokens": [1, 2], "supervised": [1], "group": "a"})");
  EXPECT_EQ(Said(), "test.jsonl: its examples have a group, but those of train.jsonl have none; give all of them one");
}

TEST_F(Folder, AFolderWithoutTrainAndAnUnknownSplitAreNamed) {
  Write("test.jsonl", kSound);
  EXPECT_NE(Said().find("is not a folder with a train.jsonl; put one there"), std::string::npos);
  Write("train.jsonl", kSound);
  try {
    Open().Split("tset");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), std::string("unknown split 'tset'; did you mean 'test'? There are train, test"));
  }
  EXPECT_THROW(Open().Split("test")->At(1), std::out_of_range);
}

}  // namespace
}  // namespace tra
