// Compares evidence and stretched examples with what the task's description says about the text.
#include "tra/tasks/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tra/tasks/export.h"
#include "tra/tasks/generated.h"

namespace tra {
namespace {

using Words = std::vector<std::string>;

Words WordsOf(const Example& example, const GeneratedExamples& examples) {
  Words words;
  for (const int32_t token : example.tokens) words.push_back(examples.names()[static_cast<size_t>(token)]);
  return words;
}

TaskOptions Plain() { return {}; }
TaskOptions PackedWithOffset() {
  TaskOptions options;
  options.pack = 700;
  options.offset = 7;
  return options;
}

// Calls check(examples, example) for examples of every split.
void ForExamples(const std::string& task, const TaskOptions& options,
                 const std::function<void(const GeneratedExamples&, const Example&)>& check) {
  for (const Split& split : FindTask(task).splits) {
    const GeneratedExamples examples(task, split.name, 11, options);
    for (uint64_t index = 0; index < 60; ++index) {
      SCOPED_TRACE(testing::Message() << task << " " << split.name << " index " << index);
      check(examples, examples.At(index));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Says where the answer at `at` can be read, and what marks it, going by the words alone.
using Oracle = std::function<Link(const Words& words, size_t at)>;

size_t LastOf(const Words& words, size_t before, const std::set<std::string>& any) {
  size_t at = before;
  while (any.count(words.at(--at)) == 0) {
  }
  return at;
}

const std::map<std::string, Oracle>& Oracles() {
  static const Oracle kCopy = [](const Words& words, size_t at) -> Link {
    // As far behind BOS as the answer is behind SEP.
    const size_t begin = LastOf(words, at, {"BOS"}), separator = LastOf(words, at, {"SEP"});
    const size_t key = begin + (at - separator);
    return {key, key - 1};
  };
  static const std::map<std::string, Oracle> kOracles = {
      {"flipflop",
       [](const Words& words, size_t at) -> Link {
         const size_t w = LastOf(words, at, {"w"});
         return {w + 1, w};
       }},
      {"copy", kCopy},
      {"induct", kCopy},
      {"induct-query",
       [](const Words& words, size_t at) -> Link {
         const size_t asked = LastOf(words, at - 1, {words[at - 1]});
         return {asked + 1, asked};
       }},
      {"flipflop++",
       [](const Words& words, size_t at) -> Link {
         const size_t instruction = LastOf(words, at, {"before-first", "after-first", "before-last", "after-last"});
         const bool first = words[instruction].find("first") != std::string::npos;
         const auto begin = words.begin() + static_cast<ptrdiff_t>(instruction),
                    end = words.begin() + static_cast<ptrdiff_t>(at);
         const auto trigger =
             static_cast<size_t>(first ? std::find(begin, end, "a") - words.begin() : LastOf(words, at, {"a"}));
         if (words[instruction].find("before") == 0) return {trigger, trigger - 1};
         return {trigger + 1, trigger};
       }},
  };
  return kOracles;
}

// Checks that every answer has its evidence, in order.
void CheckEvidence(const GeneratedExamples& examples, const Example& example) {
  const Oracle& oracle = Oracles().at(examples.task().name);
  const Words words = WordsOf(example, examples);
  const std::vector<Evidence> evidence = examples.task().kind.evidence(example);
  size_t next = 0;
  for (size_t at = 0; at < words.size(); ++at) {
    if (example.supervised[at] == 0) continue;
    ASSERT_LT(next, evidence.size());
    const Link expected = oracle(words, at);
    EXPECT_EQ(evidence[next].query, at - 1);
    EXPECT_EQ(evidence[next].keys, std::vector<size_t>{expected.query});
    EXPECT_EQ(evidence[next].links, std::vector<Link>{expected});
    EXPECT_LE(evidence[next].keys[0], evidence[next].query);
    ++next;
  }
  EXPECT_EQ(next, evidence.size());
}

TEST(Evidence, EveryTaskHasIt) {
  for (const Task& task : Tasks()) {
    ASSERT_EQ(Oracles().count(task.name), 1u) << task.name;
    ForExamples(task.name, Plain(), &CheckEvidence);
  }
}

TEST(Evidence, IsFoundInPackedExamplesAfterPadsToo) {
  for (const Task& task : Tasks()) ForExamples(task.name, PackedWithOffset(), &CheckEvidence);
}

// One of the two tokens of the evidence is the answer, but for the EOS of strings, which no earlier token spells.
TEST(Evidence, HoldsTheAnswer) {
  for (const Task& task : Tasks()) {
    ForExamples(task.name, Plain(), [](const GeneratedExamples& examples, const Example& example) {
      const Words words = WordsOf(example, examples);
      for (const Evidence& each : examples.task().kind.evidence(example)) {
        const std::string& answer = words[each.query + 1];
        if (answer == "EOS") {
          EXPECT_EQ(words[each.keys[0]], "SEP");
        } else {
          EXPECT_TRUE(answer == words[each.links[0].query] || answer == words[each.links[0].key]);
        }
      }
    });
  }
}

std::optional<Stretched> Stretch(const GeneratedExamples& examples, const Example& example, int64_t factor,
                                 uint64_t index = 0) {
  Random random(5, FirstOf(Stream::kInsertions), index);
  return examples.task().kind.stretch(example, factor, examples.recipe().symbols, random);
}

// Returns the words that were inserted, after checking that the others are as they were, in order.
Words Inserted(const GeneratedExamples& examples, const Example& original, const Stretched& stretched) {
  EXPECT_EQ(stretched.places.size(), original.tokens.size());
  EXPECT_EQ(stretched.example.tokens.size(), stretched.example.supervised.size());
  EXPECT_EQ(stretched.example.group, original.group);
  EXPECT_TRUE(std::is_sorted(stretched.places.begin(), stretched.places.end()));
  const Words words = WordsOf(stretched.example, examples);
  const std::set<size_t> places(stretched.places.begin(), stretched.places.end());
  EXPECT_EQ(places.size(), original.tokens.size());
  for (size_t at = 0; at < original.tokens.size(); ++at) {
    EXPECT_EQ(stretched.example.tokens.at(stretched.places[at]), original.tokens[at]);
    EXPECT_EQ(stretched.example.supervised.at(stretched.places[at]), original.supervised[at]);
    if (original.supervised[at] != 0) {
      EXPECT_EQ(stretched.places[at], stretched.places[at - 1] + 1);  // the query is the same token
    }
  }
  Words inserted;
  for (size_t at = 0; at < words.size(); ++at) {
    if (places.count(at) > 0) continue;
    EXPECT_EQ(stretched.example.supervised[at], 0);
    inserted.push_back(words[at]);
  }
  return inserted;
}

// What is inserted leaves the evidence where it was, so it leaves the answers what they were.
void CheckEvidenceStays(const GeneratedExamples& examples, const Example& original, const Stretched& stretched) {
  CheckEvidence(examples, stretched.example);
  const auto before = examples.task().kind.evidence(original), after = examples.task().kind.evidence(stretched.example);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].query, stretched.places[before[i].query]);
    EXPECT_EQ(after[i].keys[0], stretched.places[before[i].keys[0]]);
    EXPECT_EQ(after[i].links[0].key, stretched.places[before[i].links[0].key]);
  }
}

TEST(Stretch, OfFlipflopInsertsIgnoredInstructionsWithAnyBit) {
  ForExamples("flipflop", Plain(), [](const GeneratedExamples& examples, const Example& example) {
    const std::optional<Stretched> stretched = Stretch(examples, example, 3);
    ASSERT_TRUE(stretched);
    ASSERT_EQ(stretched->example.tokens.size(), 3 * example.tokens.size());
    const Words inserted = Inserted(examples, example, *stretched);
    size_t ones = 0;
    for (size_t i = 0; i < inserted.size(); i += 2) {
      ASSERT_EQ(inserted[i], "i");
      ASSERT_TRUE(inserted[i + 1] == "0" || inserted[i + 1] == "1");
      ones += inserted[i + 1] == "1" ? 1 : 0;
    }
    EXPECT_GT(ones, inserted.size() / 2 * 2 / 5);
    EXPECT_LT(ones, inserted.size() / 2 * 3 / 5);
    const Words words = WordsOf(stretched->example, examples);
    EXPECT_EQ(words.front(), "w");
    EXPECT_EQ(words[words.size() - 2], "r");
    CheckEvidenceStays(examples, example, *stretched);
  });
}

TEST(Stretch, OfFlipflopPlusInsertsLettersThatAreNotTheTrigger) {
  ForExamples("flipflop++", Plain(), [](const GeneratedExamples& examples, const Example& example) {
    const std::optional<Stretched> stretched = Stretch(examples, example, 4);
    ASSERT_TRUE(stretched);
    ASSERT_EQ(stretched->example.tokens.size() - 2, 4 * (example.tokens.size() - 2));
    for (const std::string& word : Inserted(examples, example, *stretched)) {
      ASSERT_EQ(word.size(), 1u);
      ASSERT_TRUE(word[0] > 'a' && word[0] <= 'z') << word;
    }
    CheckEvidenceStays(examples, example, *stretched);
    const Words words = WordsOf(stretched->example, examples);
    EXPECT_EQ(words[0], examples.task().kind.groups[static_cast<size_t>(example.group)]);
  });
}

TEST(Stretch, OfInductQueryInsertsSymbolsThatAreNotThere) {
  ForExamples("induct-query", Plain(), [](const GeneratedExamples& examples, const Example& example) {
    const size_t length = example.tokens.size() - 4;
    const std::optional<Stretched> stretched = Stretch(examples, example, 5);
    ASSERT_EQ(stretched.has_value(), 5 * length <= 300);
    if (!stretched) return;
    ASSERT_EQ(stretched->example.tokens.size(), 5 * length + 4);
    Inserted(examples, example, *stretched);
    CheckEvidenceStays(examples, example, *stretched);
    const Words words = WordsOf(stretched->example, examples);
    EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), 5 * length + 2);  // with BOS and SEP
  });
}

TEST(Stretch, OfPackedExamplesStretchesEachOne) {
  for (const Task& task : Tasks()) {
    if (task.kind.stretch == nullptr) continue;
    ForExamples(task.name, PackedWithOffset(), [](const GeneratedExamples& examples, const Example& example) {
      const std::optional<Stretched> stretched = Stretch(examples, example, 2);
      if (!stretched) return;  // of induct-query, many examples have no other symbols left
      EXPECT_GT(stretched->example.tokens.size(), 3 * example.tokens.size() / 2);
      Inserted(examples, example, *stretched);
      CheckEvidenceStays(examples, example, *stretched);
    });
  }
}

TEST(Stretch, ByOneChangesNothing) {
  for (const Task& task : Tasks()) {
    if (task.kind.stretch == nullptr) continue;
    const GeneratedExamples examples(task.name, "iid", 2);
    const Example example = examples.At(4);
    const std::optional<Stretched> stretched = Stretch(examples, example, 1);
    ASSERT_TRUE(stretched);
    EXPECT_EQ(stretched->example.tokens, example.tokens);
    EXPECT_EQ(stretched->example.supervised, example.supervised);
  }
}

TEST(Stretch, FollowsFromTheDrawsAlone) {
  const GeneratedExamples examples("flipflop", "iid", 2);
  const Example example = examples.At(4);
  const auto tokens = [&](uint64_t index) { return Stretch(examples, example, 2, index)->example.tokens; };
  EXPECT_EQ(tokens(0), tokens(0));
  EXPECT_NE(tokens(0), tokens(1));
}

// All of their symbols are answers.
TEST(Stretch, IsNotPossibleForStringsThatAreCopied) {
  EXPECT_EQ(FindTask("copy").kind.stretch, nullptr);
  EXPECT_EQ(FindTask("induct").kind.stretch, nullptr);
}

// The places are drawn uniformly: every gap is used about equally often.
TEST(Stretch, UsesAllGapsAlike) {
  TaskOptions options;
  options.lengths = Range{4, 4};
  const GeneratedExamples examples("flipflop", "iid", 1, options);
  std::vector<int> pieces(4);  // by the instruction before which they were inserted
  for (uint64_t index = 0; index < 1000; ++index) {
    const Stretched stretched = *Stretch(examples, examples.At(index), 2, index);
    for (size_t n = 1; n < 4; ++n) {
      pieces[n] += static_cast<int>(stretched.places[2 * n] - stretched.places[2 * n - 1] - 1) / 2;
    }
  }
  for (size_t n = 1; n < 4; ++n) {
    EXPECT_NEAR(pieces[n], 4000 / 3, 150) << n;  // five standard deviations of a binomial count
  }
}

}  // namespace
}  // namespace tra
