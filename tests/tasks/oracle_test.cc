// Compares every answer with what the task's description says about the text, computed without the generators'
// bookkeeping.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tra/tasks/export.h"
#include "tra/tasks/generated.h"

namespace tra {
namespace {

using Words = std::vector<std::string>;

Words WordsOf(const GeneratedExamples& examples, const Example& example) {
  std::istringstream text(ExampleText(example, examples.task(), examples.names()));
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// Calls check(examples, example) for examples of every split and two seeds.
template <typename Check>
void ForExamples(const char* task, const Check& check) {
  for (const Split& split : FindTask(task).splits) {
    for (const uint64_t seed : {0, 1234567}) {
      const GeneratedExamples examples(task, split.name, seed);
      for (uint64_t index = 0; index < 300; ++index) {
        SCOPED_TRACE(testing::Message() << task << " " << split.name << " seed " << seed << " index " << index);
        const Example example = examples.At(index);
        ASSERT_EQ(example.tokens.size(), example.supervised.size());
        check(examples, example);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Oracle, Flipflop) {
  ForExamples("flipflop", [](const GeneratedExamples& examples, const Example& example) {
    const std::string text = ExampleText(example, examples.task(), examples.names());
    ASSERT_EQ(text.size(), 512u);
    std::string instructions, bits;
    for (size_t at = 0; at < text.size(); at += 2) {
      instructions += text[at];
      bits += text[at + 1];
    }
    ASSERT_EQ(instructions.front(), 'w');
    ASSERT_EQ(instructions.back(), 'r');
    ASSERT_EQ(instructions.find_first_not_of("wri"), std::string::npos);
    ASSERT_EQ(bits.find_first_not_of("01"), std::string::npos);
    for (size_t n = 0; n < instructions.size(); ++n) {
      ASSERT_EQ(example.supervised[2 * n], 0);
      ASSERT_EQ(example.supervised[2 * n + 1], instructions[n] == 'r' ? 1 : 0);
      if (instructions[n] != 'r') continue;
      ASSERT_EQ(bits[n], bits[instructions.rfind('w', n)]);
    }
  });
}

// Checks that an example is BOS x SEP x EOS.
void CheckCopy(const GeneratedExamples& examples, const Example& example) {
  const Words words = WordsOf(examples, example);
  const Range lengths = examples.split().lengths;
  ASSERT_EQ(words.size() % 2, 1u);
  const size_t length = (words.size() - 3) / 2;
  ASSERT_TRUE(lengths.Has(static_cast<int64_t>(length)));
  ASSERT_EQ(words.front(), "BOS");
  ASSERT_EQ(words[length + 1], "SEP");
  ASSERT_EQ(words.back(), "EOS");
  ASSERT_EQ(Words(words.begin() + 1, words.begin() + 1 + static_cast<ptrdiff_t>(length)),
            Words(words.begin() + 2 + static_cast<ptrdiff_t>(length), words.end() - 1));
  for (size_t at = 0; at < words.size(); ++at) ASSERT_EQ(example.supervised[at], at > length + 1 ? 1 : 0);
  for (size_t at = 1; at <= length; ++at) {
    ASSERT_EQ(words[at].find_first_not_of("0123456789"), std::string::npos);
    ASSERT_LT(std::stoi(words[at]), examples.task().symbols);
  }
}

TEST(Oracle, Copy) { ForExamples("copy", &CheckCopy); }

TEST(Oracle, InductCopiesDifferentSymbols) {
  ForExamples("induct", [](const GeneratedExamples& examples, const Example& example) {
    CheckCopy(examples, example);
    const Words words = WordsOf(examples, example);
    const size_t length = (words.size() - 3) / 2;
    ASSERT_EQ(std::set<std::string>(words.begin() + 1, words.end()).size(), length + 2);  // SEP, EOS
  });
}

TEST(Oracle, InductQuery) {
  ForExamples("induct-query", [](const GeneratedExamples& examples, const Example& example) {
    const std::string text = " " + ExampleText(example, examples.task(), examples.names()) + " ";
    const Words words = WordsOf(examples, example);
    const size_t length = words.size() - 4;
    ASSERT_TRUE(examples.split().lengths.Has(static_cast<int64_t>(length)));
    ASSERT_EQ(words.front(), "BOS");
    ASSERT_EQ(words[length + 1], "SEP");
    const std::set<std::string> symbols(words.begin() + 1, words.begin() + 1 + static_cast<ptrdiff_t>(length));
    ASSERT_EQ(symbols.size(), length);
    // The question and its answer at the end are also neighbours in the string.
    const std::string pair = " " + words[length + 2] + " " + words[length + 3] + " ";
    ASSERT_LT(text.find(pair), text.find(" SEP "));
    for (size_t at = 0; at < words.size(); ++at) ASSERT_EQ(example.supervised[at], at + 1 == words.size() ? 1 : 0);
  });
}

TEST(Oracle, FlipflopPlus) {
  ForExamples("flipflop++", [](const GeneratedExamples& examples, const Example& example) {
    const Words words = WordsOf(examples, example);
    std::string letters;
    for (size_t at = 1; at + 1 < words.size(); ++at) letters += words[at];
    ASSERT_EQ(letters.size() + 2, words.size());  // one letter each
    ASSERT_TRUE(examples.split().lengths.Has(static_cast<int64_t>(letters.size())));
    ASSERT_EQ(letters.find("aa"), std::string::npos);
    ASSERT_NE(letters.front(), 'a');
    ASSERT_NE(letters.back(), 'a');
    const size_t first = letters.find('a'), last = letters.rfind('a');
    ASSERT_NE(first, std::string::npos);
    const char answer = words[0] == "before-first"  ? letters[first - 1]
                        : words[0] == "after-first" ? letters[first + 1]
                        : words[0] == "before-last" ? letters[last - 1]
                                                    : letters[last + 1];
    ASSERT_EQ(words.back(), std::string(1, answer));
    ASSERT_EQ(words[0], examples.task().kind.groups[static_cast<size_t>(example.group)]);
    for (size_t at = 0; at < words.size(); ++at) ASSERT_EQ(example.supervised[at], at + 1 == words.size() ? 1 : 0);
  });
}

TEST(Oracle, EveryTaskIsChecked) {
  std::set<std::string> checked = {"flipflop", "copy", "induct", "induct-query", "flipflop++"};
  for (const Task& task : Tasks()) EXPECT_EQ(checked.count(task.name), 1u) << task.name;
}

TEST(Tasks, NumbersAndNamesAreUnique) {
  std::set<uint32_t> streams;
  std::set<std::string> names;
  size_t splits = 0;
  for (const Task& task : Tasks()) {
    names.insert(task.name);
    for (const Split& split : task.splits) {
      streams.insert(task.StreamWord(split));
      names.insert(std::string(task.name) + "/" + split.name);
      ++splits;
    }
  }
  EXPECT_EQ(streams.size(), splits);
  EXPECT_EQ(names.size(), splits + Tasks().size());
}

TEST(Tasks, TokensStayWithinTheVocabularyAndOnlyPadsArePads) {
  for (const Task& task : Tasks()) {
    for (const Split& split : task.splits) {
      const GeneratedExamples examples(task.name, split.name, 3);
      for (uint64_t index = 0; index < 50; ++index) {
        for (const int32_t token : examples.At(index).tokens) {
          ASSERT_GT(token, kPad);
          ASSERT_LT(static_cast<size_t>(token), examples.names().size());
        }
      }
    }
  }
}

TEST(Tasks, ExplanationsNameTheAnswers) {
  const auto explain = [](const char* task, const char* split, uint64_t index) {
    const GeneratedExamples examples(task, split, 0);
    const Example example = examples.At(index);
    std::string all;
    for (const std::string& each : examples.task().kind.explain(example, examples.names())) all += each + "\n";
    return all;
  };
  const GeneratedExamples queries("induct-query", "iid", 0);
  for (uint64_t index = 0; index < 20; ++index) {
    const Words words = WordsOf(queries, queries.At(index));
    const std::string said = explain("induct-query", "iid", index);
    EXPECT_NE(said.find("what follows " + words[words.size() - 2] + "?"), std::string::npos) << said;
    EXPECT_NE(said.find("before " + words.back() + "\n"), std::string::npos) << said;
  }
  const GeneratedExamples plus("flipflop++", "51-500", 0);
  for (uint64_t index = 0; index < 20; ++index) {
    const Words words = WordsOf(plus, plus.At(index));
    EXPECT_NE(explain("flipflop++", "51-500", index).find("is '" + words.back() + "'"), std::string::npos);
  }
  EXPECT_NE(explain("induct", "iid", 0).find("no symbol repeats"), std::string::npos);
  EXPECT_NE(explain("copy", "201-300", 0).find("more history"), std::string::npos);
}

TEST(Tasks, AFlipflopExplanationHasASentenceForEachRead) {
  const GeneratedExamples examples("flipflop", "dense", 0);
  const Example example = examples.At(2);
  const auto sentences = examples.task().kind.explain(example, examples.names());
  size_t reads = 0;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    if (example.supervised[at] == 0) continue;
    ASSERT_LT(reads, sentences.size());
    EXPECT_EQ(sentences[reads].find("r at " + std::to_string(at - 1) + ":"), 0u) << sentences[reads];
    const std::string bit = examples.names()[static_cast<size_t>(example.tokens[at])];
    EXPECT_NE(sentences[reads].find(" and wrote " + bit + ";"), std::string::npos) << sentences[reads];
    ++reads;
  }
  EXPECT_EQ(reads, sentences.size());
}

}  // namespace
}  // namespace tra
