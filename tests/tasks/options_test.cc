#include <gtest/gtest.h>

#include "tra/tasks/generated.h"
#include "tra/tasks/strings.h"

namespace tra {
namespace {

std::string Error(const std::string& task, const std::string& split, const TaskOptions& options = {}) {
  try {
    const GeneratedExamples examples(task, split, 0, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TaskOptions Lengths(int64_t low, int64_t high) {
  TaskOptions options;
  options.lengths = Range{low, high};
  return options;
}

TaskOptions Symbols(int64_t symbols) {
  TaskOptions options;
  options.symbols = symbols;
  return options;
}

TEST(Options, UnknownNamesOfferTheNearest) {
  EXPECT_NE(Error("copi", "iid").find("unknown task 'copi'; did you mean 'copy'?"), std::string::npos);
  EXPECT_NE(Error("flipflop", "sparce").find("unknown split of flipflop 'sparce'; did you mean 'sparse'?"),
            std::string::npos);
}

TEST(Options, ImpossibleExamplesAreRefusedWithWhatIsPossible) {
  EXPECT_EQ(Error("induct", "iid", Lengths(1, 301)),
            "induct: lengths (symbols of the string) must be within 1-300, got 1-301");
  EXPECT_EQ(Error("induct-query", "iid", Lengths(1, 5)),
            "induct-query: lengths (symbols of the string) must be within 2-300, got 1-5");
  EXPECT_NE(Error("flipflop++", "iid", Lengths(2, 5)).find("must be within 3-"), std::string::npos);
  EXPECT_NE(Error("copy", "iid", Lengths(7, 5)).find("got 7-5"), std::string::npos);
  EXPECT_NE(Error("copy", "iid", Lengths(0, 5)).find("must be within 1-"), std::string::npos);
  EXPECT_NE(Error("induct", "iid", Symbols(20)).find("must be within 1-20, got 1-50"), std::string::npos);
  EXPECT_EQ(Error("flipflop", "iid", Symbols(3)), "flipflop: symbols must be 2, got 3");
  EXPECT_EQ(Error("flipflop++", "iid", Symbols(27)), "flipflop++: symbols must be 2-26, got 27");
  TaskOptions packed;
  packed.pack = -1;
  EXPECT_NE(Error("copy", "iid", packed).find("pack must be 0 (off) to "), std::string::npos);
}

TEST(Options, AnyTaskMakesExamplesOfTheLengthAskedFor) {
  for (const Task& task : Tasks()) {
    for (const int64_t length : {3, 77, 300}) {
      const GeneratedExamples examples(task.name, "train", 0, Lengths(length, length));
      const size_t size = examples.At(0).tokens.size();
      EXPECT_EQ(examples.At(1).tokens.size(), size);
      EXPECT_GE(size, static_cast<size_t>(length));
    }
  }
}

TEST(Options, AllSymbolsOfInductMayBeUsedUp) {
  const GeneratedExamples examples("induct", "train", 0, Lengths(300, 300));
  EXPECT_EQ(examples.At(0).tokens.size(), 603u);
}

TEST(Options, PackingFillsSequencesWithWholeExamples) {
  TaskOptions options;
  options.pack = 256;
  const GeneratedExamples packed("copy", "train", 0, options), plain("copy", "train", 0);
  for (uint64_t index = 0; index < 200; ++index) {
    const Example example = packed.At(index), first = plain.At(index);
    ASSERT_LE(example.tokens.size(), 256u);
    ASSERT_GT(example.tokens.size() + 2 * 50 + 3, 256u);  // the longest example would not have fitted too
    ASSERT_EQ(example.tokens.front(), strings::kBegin);
    ASSERT_EQ(example.tokens.back(), strings::kEnd);
    ASSERT_EQ(std::vector<int32_t>(example.tokens.begin(),
                                   example.tokens.begin() + static_cast<ptrdiff_t>(first.tokens.size())),
              first.tokens);
    // The answers are all symbols after a SEP up to its EOS.
    bool answering = false;
    for (size_t at = 0; at < example.tokens.size(); ++at) {
      ASSERT_EQ(example.supervised[at] != 0, answering);
      if (example.tokens[at] == strings::kSeparator) answering = true;
      if (example.tokens[at] == strings::kEnd) answering = false;
    }
  }
}

TEST(Options, AnExampleLongerThanThePackStandsAlone) {
  TaskOptions options;
  options.pack = 4;
  const GeneratedExamples packed("copy", "train", 0, options), plain("copy", "train", 0);
  for (uint64_t index = 0; index < 20; ++index) EXPECT_EQ(packed.At(index).tokens, plain.At(index).tokens);
}

TEST(Options, AnOffsetPutsPadsBefore) {
  TaskOptions options;
  options.offset = 9;
  const GeneratedExamples shifted("induct", "train", 0, options), plain("induct", "train", 0);
  std::vector<int64_t> seen(10, 0);
  for (uint64_t index = 0; index < 300; ++index) {
    const Example example = shifted.At(index), other = plain.At(index);
    const size_t pads = example.tokens.size() - other.tokens.size();
    ASSERT_LE(pads, 9u);
    ++seen[pads];
    for (size_t at = 0; at < pads; ++at) {
      ASSERT_EQ(example.tokens[at], kPad);
      ASSERT_EQ(example.supervised[at], 0);
    }
    ASSERT_EQ(std::vector<int32_t>(example.tokens.begin() + static_cast<ptrdiff_t>(pads), example.tokens.end()),
              other.tokens);
  }
  for (const int64_t count : seen) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace tra
