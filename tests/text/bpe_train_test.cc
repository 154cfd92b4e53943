// Compares with a trainer that counts all pairs again for every merge.
#include "tra/text/bpe_train.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "tests/text/texts.h"
#include "tra/text/pieces.h"

namespace tra {
namespace {

using Pair = std::pair<int32_t, int32_t>;

// Makes merges as long as some pair occurs twice, up to `limit` of them.
std::vector<Pair> NaiveMerges(std::string_view text, size_t limit) {
  std::array<int32_t, 256> ids{};
  for (size_t i = 0; i < 256; ++i) ids[ByteOrder()[i]] = static_cast<int32_t>(i);
  std::vector<std::vector<int32_t>> words;
  Pieces pieces(text);
  for (std::string_view piece; pieces.Next(piece);) {
    words.emplace_back();
    for (const char byte : piece) words.back().push_back(ids[static_cast<unsigned char>(byte)]);
  }
  std::vector<Pair> merges;
  while (merges.size() < limit) {
    std::map<Pair, int> counts;
    for (const auto& word : words) {
      for (size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    }
    Pair best;
    int most = 1;
    for (const auto& [pair, count] : counts) {  // ascending, so that the first of equal pairs wins
      if (count > most) std::tie(best, most) = std::tie(pair, count);
    }
    if (most == 1) return merges;
    for (auto& word : words) {
      std::vector<int32_t> merged;
      for (size_t i = 0; i < word.size(); ++i) {
        const bool here = i + 1 < word.size() && Pair(word[i], word[i + 1]) == best;
        merged.push_back(here ? static_cast<int32_t>(256 + merges.size()) : word[i]);
        i += here ? 1 : 0;
      }
      word = merged;
    }
    merges.push_back(best);
  }
  return merges;
}

void ExpectSameAsNaive(std::string_view text, size_t limit) {
  const std::vector<Pair> want = NaiveMerges(text, limit);
  const BpeModel model = TrainBpe(text, static_cast<int64_t>(257 + want.size()), 2);
  ASSERT_EQ(model.merges.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(Pair(model.merges[i].left, model.merges[i].right), want[i]) << "merge " << i;
    ASSERT_EQ(model.merges[i].result, static_cast<int32_t>(256 + i));
  }
  if (want.size() < limit) {
    EXPECT_EQ(FailureOf([&] { TrainBpe(text, static_cast<int64_t>(258 + want.size())); }),
              "BPE training: a vocabulary of " + std::to_string(258 + want.size()) +
                  " is too large for this text, in which no further pair occurs twice; ask for at most " +
                  std::to_string(257 + want.size()) + ", or train on more text");
  }
}

TEST(TrainBpe, AgreesWithTheNaiveTrainerUntilNoPairIsLeft) {
  std::mt19937_64 random(4);
  for (size_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    std::string text;
    for (size_t i = 0; i < 20 * round; ++i) {
      text += random() % 6 == 0 ? ' ' : static_cast<char>('a' + random() % (1 + round % 5));
    }
    ExpectSameAsNaive(text, 1000);
  }
}

TEST(TrainBpe, AgreesWithTheNaiveTrainerOnProseAndOnAnyBytes) {
  ExpectSameAsNaive(Prose(60), 60);
  std::mt19937_64 random(5);
  for (int round = 0; round < 10; ++round) ExpectSameAsNaive(RandomBytes(random, 800), 100);
}

TEST(TrainBpe, OfEqualPairsTheSmallestIsFirst) {
  // (a, b), (c, d) and then (space, ab) occur twice each; a space has a larger id than letters.
  const BpeModel model = TrainBpe("cd ab cd ab", 260);
  EXPECT_EQ(model.tokens[256], "ab");
  EXPECT_EQ(model.tokens[257], "cd");
  EXPECT_EQ(model.tokens[258], " ab");
}

TEST(TrainBpe, GivesTheSameOnAnyNumberOfThreads) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += Prose(1000);  // several chunks
  const BpeModel one = TrainBpe(text, 290, 1);
  for (const size_t threads : {2, 3, 8}) EXPECT_EQ(TrainBpe(text, 290, threads).tokens, one.tokens);
}

TEST(TrainBpe, IdsAreBytesThenMergesThenEndOfText) {
  const BpeModel& model = SmallBpe();
  ASSERT_EQ(model.tokens.size(), 300u);
  EXPECT_EQ(model.tokens[0], "!");
  EXPECT_EQ(model.tokens[188], std::string(1, '\0'));
  EXPECT_EQ(model.tokens[220], " ");
  EXPECT_EQ(model.tokens[299], "<|endoftext|>");
  EXPECT_EQ(model.end_of_text, 299);
  EXPECT_EQ(model.merges.size(), 43u);
}

TEST(TrainBpe, TheSmallestVocabularyIsOfBytesAndNeedsNoText) {
  EXPECT_EQ(TrainBpe("", 257).tokens.size(), 257u);
  EXPECT_EQ(FailureOf([] { TrainBpe("text", 256); }),
            "BPE training: a vocabulary of 256 is too small for the 256 bytes and end of text; ask for at least 257");
}

}  // namespace
}  // namespace tra
