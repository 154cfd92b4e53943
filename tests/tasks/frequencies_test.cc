// Checks how often things are drawn, within four standard deviations. A correct generator fails one such check in
// 16,000, but as seeds are fixed, a check fails always or never.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tra/tasks/export.h"
#include "tra/tasks/generated.h"

namespace tra {
namespace {

void ExpectShare(int64_t count, int64_t of, double probability, const std::string& what) {
  const auto n = static_cast<double>(of);
  EXPECT_NEAR(static_cast<double>(count), n * probability, 4 * std::sqrt(n * probability * (1 - probability))) << what;
}

// Expects the counts of uniform draws from `kinds` values.
template <typename Value>
void ExpectUniform(const std::map<Value, int64_t>& counts, int64_t kinds, const std::string& what) {
  EXPECT_EQ(static_cast<int64_t>(counts.size()), kinds) << what;
  int64_t total = 0;
  for (const auto& [value, count] : counts) total += count;
  for (const auto& [value, count] : counts) {
    ExpectShare(count, total, 1.0 / static_cast<double>(kinds), what + " " + testing::PrintToString(value));
  }
}

TEST(Frequencies, FlipflopInstructionsAndBits) {
  for (const auto& [split, ignore] :
       std::map<std::string, double>{{"train", 0.8}, {"iid", 0.8}, {"sparse", 0.98}, {"dense", 0.1}}) {
    const GeneratedExamples examples("flipflop", split, 0);
    std::map<char, int64_t> instructions, ones;
    int64_t total = 0;
    for (uint64_t index = 0; index < 1000; ++index) {
      const std::string text = ExampleText(examples.At(index), examples.task(), examples.names());
      for (size_t at = 0; at < text.size(); at += 2) {
        ones[text[at]] += text[at + 1] == '1' ? 1 : 0;
        if (at == 0 || at == 510) continue;
        ++instructions[text[at]];
        ++total;
      }
    }
    ExpectShare(instructions['i'], total, ignore, split + " i");
    ExpectShare(instructions['w'], total, (1 - ignore) / 2, split + " w");
    ExpectShare(instructions['r'], total, (1 - ignore) / 2, split + " r");
    ExpectShare(ones['i'], instructions['i'], 0.5, split + " i1");
    ExpectShare(ones['w'], instructions['w'] + 1000, 0.5, split + " w1");
  }
}

TEST(Frequencies, LengthsAreUniform) {
  for (const Task& task : Tasks()) {
    for (const Split& split : task.splits) {
      const Range range = split.lengths;
      if (range.low == range.high) continue;
      const GeneratedExamples examples(task.name, split.name, 0);
      std::map<size_t, int64_t> counts;
      const int64_t kinds = range.high - range.low + 1;
      for (uint64_t index = 0; index < static_cast<uint64_t>(20 * kinds); ++index) {
        ++counts[examples.At(index).tokens.size()];
      }
      ExpectUniform(counts, kinds, std::string(task.name) + " " + split.name + " length");
    }
  }
}

TEST(Frequencies, SymbolsAreUniformInEveryPlace) {
  for (const char* task : {"copy", "induct", "induct-query"}) {
    TaskOptions options;
    options.lengths = Range{5, 5};
    options.symbols = 7;
    const GeneratedExamples examples(task, "train", 0, options);
    std::vector<std::map<int32_t, int64_t>> counts(5);
    for (uint64_t index = 0; index < 2000; ++index) {
      const Example example = examples.At(index);
      for (size_t at = 0; at < 5; ++at) ++counts[at][example.tokens[at + 1]];
    }
    for (size_t at = 0; at < 5; ++at) ExpectUniform(counts[at], 7, task + std::string(" at ") + std::to_string(at));
  }
}

TEST(Frequencies, TrainingDrawsFromAllSymbolsOfInduct) {
  const GeneratedExamples examples("induct", "train", 0);
  std::set<int32_t> seen;
  for (uint64_t index = 0; index < 1000; ++index) {
    for (const int32_t token : examples.At(index).tokens) seen.insert(token);
  }
  EXPECT_EQ(seen.size(), 303u);  // 300 symbols, BOS, SEP, EOS
}

TEST(Frequencies, EveryPairOfAQueryIsAskedAlike) {
  TaskOptions options;
  options.lengths = Range{6, 6};
  const GeneratedExamples examples("induct-query", "train", 0, options);
  std::map<ptrdiff_t, int64_t> places;
  for (uint64_t index = 0; index < 3000; ++index) {
    const std::vector<int32_t> tokens = examples.At(index).tokens;
    ++places[std::find(tokens.begin(), tokens.end(), tokens[tokens.size() - 2]) - tokens.begin()];
  }
  ExpectUniform(places, 5, "asked place");
}

TEST(Frequencies, FlipflopPlusPlacesTriggersEvenly) {
  TaskOptions options;
  options.lengths = Range{9, 9};
  const GeneratedExamples examples("flipflop++", "train", 0, options);
  std::map<int32_t, int64_t> groups;
  std::map<size_t, int64_t> numbers;
  std::map<size_t, std::map<std::string, int64_t>> places;  // by number of triggers
  for (uint64_t index = 0; index < 12'000; ++index) {
    const Example example = examples.At(index);
    std::string pattern;
    for (size_t at = 1; at < 10; ++at) pattern += example.tokens[at] == 5 ? 'a' : '.';
    const auto number = static_cast<size_t>(std::count(pattern.begin(), pattern.end(), 'a'));
    ++groups[example.group];
    ++numbers[number];
    ++places[number][pattern];
  }
  ExpectUniform(groups, 4, "instruction");
  ExpectUniform(numbers, 4, "triggers");  // 7 slots hold at most 4 that are not adjacent
  ExpectUniform(places[1], 7, "one");     // C(7, 1)
  ExpectUniform(places[2], 15, "two");    // C(6, 2)
  ExpectUniform(places[3], 10, "three");  // C(5, 3)
  ExpectUniform(places[4], 1, "four");    // C(4, 4)
}

TEST(Frequencies, NumbersOfTriggersDoNotGrowWithTheLength) {
  for (const char* split : {"train", "51-500"}) {
    const GeneratedExamples examples("flipflop++", split, 0);
    size_t most = 0;
    for (uint64_t index = 0; index < 1000; ++index) {
      const std::vector<int32_t> tokens = examples.At(index).tokens;
      most = std::max<size_t>(most, static_cast<size_t>(std::count(tokens.begin(), tokens.end(), 5)));
    }
    EXPECT_EQ(most, 5u) << split;
  }
}

// ---- Splits and seeds must differ.

TEST(Splits, LengthsOfGeneralisationAreBeyondThoseOfTraining) {
  for (const Task& task : Tasks()) {
    const Range trained = FindSplit(task, "train").lengths;
    for (const Split& split : task.splits) {
      if (!split.ood || split.ignore > 0) continue;
      EXPECT_GT(split.lengths.low, trained.high) << task.name << " " << split.name;
    }
  }
}

TEST(Splits, NoSparseOrDenseFlipflopCouldBeOneOfTraining) {
  const auto ignored = [](const char* split) {
    const GeneratedExamples examples("flipflop", split, 0);
    std::vector<int64_t> counts;
    for (uint64_t index = 0; index < 2000; ++index) {
      const std::vector<int32_t> tokens = examples.At(index).tokens;
      counts.push_back(std::count(tokens.begin(), tokens.end(), 3));
    }
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return Range{*least, *most};
  };
  // Of the 254 drawn instructions of an example, 203 +- 6 are ignored ones in training, 249 +- 2 in sparse and 25 +- 5
  // in dense.
  EXPECT_LT(ignored("train").high, ignored("sparse").low);
  EXPECT_GT(ignored("train").low, ignored("dense").high);
}

TEST(Splits, EvaluationDoesNotRepeatTraining) {
  // Short strings of few symbols inevitably repeat. With 10^20 possible strings or more, none should.
  for (const Task& task : Tasks()) {
    TaskOptions options;
    if (std::string(task.name) != "flipflop") options.lengths = Range{20, 50};
    const GeneratedExamples train(task.name, "train", 0, options), test(task.name, "iid", 0, options);
    std::set<std::vector<int32_t>> seen;
    for (uint64_t index = 0; index < 5000; ++index) seen.insert(train.At(index).tokens);
    EXPECT_EQ(seen.size(), 5000u) << task.name;
    for (uint64_t index = 0; index < 1000; ++index) EXPECT_EQ(seen.count(test.At(index).tokens), 0u) << task.name;
  }
}

TEST(Splits, SeedsGiveOtherExamples) {
  for (const Task& task : Tasks()) {
    const GeneratedExamples a(task.name, "train", 0), b(task.name, "train", 1);
    int64_t same = 0;
    for (uint64_t index = 0; index < 100; ++index) same += a.At(index).tokens == b.At(index).tokens ? 1 : 0;
    EXPECT_LE(same, 2) << task.name;  // strings of one symbol may coincide
  }
}

}  // namespace
}  // namespace tra
