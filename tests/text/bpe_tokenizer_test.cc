// Compares with the loop of GPT-2's own encoder: find the best pair, merge all its occurrences from left to right,
// repeat.
#include "tra/text/bpe_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "tests/text/texts.h"
#include "tra/text/pieces.h"

namespace tra {
namespace {

using Ids = std::vector<int32_t>;

class Textbook {
 public:
  explicit Textbook(const BpeModel& model) : model_(model) {
    for (size_t i = 0; i < model.merges.size(); ++i) ranks_[{model.merges[i].left, model.merges[i].right}] = i;
  }

  Ids Encode(std::string_view text) const {
    Ids ids;
    Pieces pieces(text);
    for (std::string_view piece; pieces.Next(piece);) {
      for (const int32_t id : EncodePiece(piece)) ids.push_back(id);
    }
    return ids;
  }

 private:
  Ids EncodePiece(std::string_view piece) const {
    Ids ids;
    for (const char byte : piece) ids.push_back(model_.byte_ids[static_cast<unsigned char>(byte)]);
    while (true) {
      size_t best = model_.merges.size();
      for (size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto found = ranks_.find({ids[i], ids[i + 1]});
        if (found != ranks_.end()) best = std::min(best, found->second);
      }
      if (best == model_.merges.size()) return ids;
      const BpeModel::Merge& merge = model_.merges[best];
      Ids merged;
      for (size_t i = 0; i < ids.size(); ++i) {
        const bool here = i + 1 < ids.size() && ids[i] == merge.left && ids[i + 1] == merge.right;
        merged.push_back(here ? merge.result : ids[i]);
        i += here ? 1 : 0;
      }
      ids = merged;
    }
  }

  const BpeModel& model_;
  std::map<std::pair<int32_t, int32_t>, size_t> ranks_;
};

TEST(BpeTokenizer, AgreesWithTheTextbookOnProse) {
  const BpeTokenizer tokenizer("bpe", SmallBpe());
  const std::string text = Prose(50) + "unseen words, shattered catthesaurus";
  const Ids ids = tokenizer.Encode(text);
  EXPECT_EQ(ids, Textbook(SmallBpe()).Encode(text));
  EXPECT_LT(ids.size(), text.size() / 2);  // merges took place
}

// Uses few letters, so that merges overlap all the time, also with themselves.
TEST(BpeTokenizer, AgreesWithTheTextbookWhereMergesOverlap) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto draw = [&](size_t size, int letters) {
      std::string text;
      for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random() % letters);
      return text;
    };
    const int letters = 1 + round % 4;
    const BpeModel model = TrainBpe(draw(3000, letters), letters == 1 ? 260 : 280);
    const BpeTokenizer tokenizer("bpe", model);
    const Textbook textbook(model);
    for (size_t size = 0; size < 60; ++size) {
      const std::string text = draw(size, letters);
      ASSERT_EQ(tokenizer.Encode(text), textbook.Encode(text)) << text;
    }
  }
}

TEST(BpeTokenizer, AgreesWithTheTextbookOnAnyBytes) {
  std::mt19937_64 random(3);
  std::string corpus;
  for (int i = 0; i < 300; ++i) corpus += RandomBytes(random, 40);
  const BpeModel model = TrainBpe(corpus, 550);
  const BpeTokenizer tokenizer("bpe", model);
  const Textbook textbook(model);
  for (size_t i = 0; i < 1000; ++i) {
    const std::string text = RandomBytes(random, i % 60);
    ASSERT_EQ(tokenizer.Encode(text), textbook.Encode(text)) << i;
  }
}

TEST(BpeTokenizer, WordsThatShareAPlaceInTheCacheAreToldApart) {
  const BpeTokenizer tokenizer("bpe", SmallBpe());
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += " w" + std::to_string(i);  // more than the cache has places
  const Ids first = tokenizer.Encode(text), second = tokenizer.Encode(text);
  EXPECT_EQ(first, second);
  EXPECT_EQ(tokenizer.Decode(first), text);
}

TEST(BpeTokenizer, WordsOfManyIdsAreTheSameWhenSeenAgain) {
  const BpeTokenizer tokenizer("bpe", SmallBpe());
  for (size_t size = 1; size < 50; ++size) {
    const std::string word(size, 'Q');  // no merge has this letter
    for (int time = 0; time < 2; ++time) ASSERT_EQ(tokenizer.Decode(tokenizer.Encode(word)), word);
  }
}

TEST(BpeTokenizer, LongPiecesTakeLittleMoreThanLinearTime) {
  const BpeTokenizer tokenizer("bpe", TrainBpe(std::string(1 << 16, 'a'), 260));
  const std::string text(2'000'001, 'a');
  const Ids ids = tokenizer.Encode(text);  // "aa", "aaaa" and "aaaaaaaa" are tokens
  EXPECT_EQ(ids.size(), 250'001u);
  EXPECT_EQ(tokenizer.Decode(ids), text);
}

TEST(BpeTokenizer, ThreadsMayShareIt) {
  const BpeTokenizer tokenizer("bpe", SmallBpe());
  const std::string text = Prose(100);
  const Ids want = tokenizer.Encode(text);
  std::vector<Ids> got(8);
  std::vector<std::thread> threads;
  threads.reserve(got.size());
  for (Ids& ids : got) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) ids = tokenizer.Encode(text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ids& ids : got) EXPECT_EQ(ids, want);
}

TEST(BpeTokenizer, EndOfTextIsNeverReadFromText) {
  const BpeTokenizer tokenizer("bpe", SmallBpe());
  ASSERT_EQ(tokenizer.EndOfText(), 299);
  for (const int32_t id : tokenizer.Encode("a<|endoftext|>b <|endoftext|>")) EXPECT_NE(id, 299);
  EXPECT_EQ(tokenizer.Decode({299}), "<|endoftext|>");
}

TEST(BpeTokenizer, ChecksumTellsVocabulariesAndMergesApart) {
  const std::string sum = BpeTokenizer("bpe", SmallBpe()).Checksum();
  EXPECT_EQ(sum.size(), 64u);
  EXPECT_EQ(BpeTokenizer("other name", SmallBpe()).Checksum(), sum);
  BpeModel model = SmallBpe();
  std::swap(model.tokens[3], model.tokens[4]);
  EXPECT_NE(BpeTokenizer("bpe", model).Checksum(), sum);
  model = SmallBpe();
  std::swap(model.merges[0], model.merges[1]);
  EXPECT_NE(BpeTokenizer("bpe", model).Checksum(), sum);
}

}  // namespace
}  // namespace tra
