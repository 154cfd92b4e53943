// Tests what every tokenizer of the table promises, and its errors when its files are missing.
#include "tra/text/tokenizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/base/files.h"
#include "tests/text/texts.h"
#include "tra/text/cuts.h"

namespace tra {
namespace {

using Ids = std::vector<int32_t>;

// gpt2 is tested in gpt2_test.cc, because its files are not part of this project; its code is that of bpe.
class EveryTokenizer : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    WriteBpe(SmallBpe(), files_ / "");
    tokenizer_ = MakeTokenizer(GetParam(), files_ / "");
  }

  TemporaryDirectory files_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(EveryTokenizer, GivesAnyBytesBack) {
  std::mt19937_64 random(9);
  for (size_t i = 0; i < 2000; ++i) {
    const std::string text = i % 2 == 0 ? RandomText(random, i % 70) : RandomBytes(random, i % 70);
    const Ids ids = tokenizer_->Encode(text);
    ASSERT_EQ(tokenizer_->Decode(ids), text);
    for (const int32_t id : ids) ASSERT_TRUE(id >= 0 && id < tokenizer_->Vocabulary());
  }
}

TEST_P(EveryTokenizer, GivesTheSameIdsOverACut) {
  std::mt19937_64 random(10);
  for (size_t i = 0; i < 300; ++i) {
    const std::string text = i % 2 == 0 ? RandomText(random, i % 50) : RandomBytes(random, i % 50);
    const Ids whole = tokenizer_->Encode(text);
    for (size_t from = 0; from <= text.size(); ++from) {
      const size_t cut = NextCut(text, from);
      Ids parts = tokenizer_->Encode(std::string_view(text).substr(0, cut));
      tokenizer_->Encode(std::string_view(text).substr(cut), parts);  // appends
      ASSERT_EQ(parts, whole);
    }
  }
}

TEST_P(EveryTokenizer, RefusesIdsThatAreNotInItsVocabulary) {
  const std::string name = GetParam(), size = std::to_string(tokenizer_->Vocabulary());
  EXPECT_EQ(FailureOf([&] {
              tokenizer_->Decode({0, static_cast<int32_t>(tokenizer_->Vocabulary())});
            }),
            "tokenizer " + name + ": id " + size + " is not in the vocabulary of " + size +
                "; decode with the tokenizer that made it");
  EXPECT_THROW(tokenizer_->Bytes(-1), std::invalid_argument);
}

TEST_P(EveryTokenizer, HasItsNameAndAChecksumOfItsOwn) {
  EXPECT_EQ(tokenizer_->Name(), GetParam());
  EXPECT_EQ(tokenizer_->Checksum().size(), 64u);
  EXPECT_EQ(tokenizer_->Checksum(), MakeTokenizer(GetParam(), files_ / "")->Checksum());
}

INSTANTIATE_TEST_SUITE_P(Table, EveryTokenizer, testing::Values("bytes", "bpe"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Tokenizers, BytesAreTheirOwnIds) {
  const auto tokenizer = MakeTokenizer("bytes");
  EXPECT_EQ(tokenizer->Encode(std::string_view("a\0\xFF", 3)), (Ids{97, 0, 255}));
  EXPECT_EQ(tokenizer->EndOfText(), std::nullopt);
}

TEST(Tokenizers, DifferInTheirChecksums) {
  const TemporaryDirectory files;
  WriteBpe(SmallBpe(), files / "");
  EXPECT_NE(MakeTokenizer("bytes")->Checksum(), MakeTokenizer("bpe", files / "")->Checksum());
}

TEST(Tokenizers, UnknownNamesGetTheTable) {
  EXPECT_EQ(FailureOf([] { MakeTokenizer("gpt"); }),
            "text: unknown tokenizer 'gpt'; did you mean 'gpt2'? There are bytes, gpt2, bpe");
}

TEST(Tokenizers, SayHowToGetTheirFiles) {
  const std::string gpt2 = "get GPT-2's files with scripts/get_gpt2.sh DIR, then name that folder with --files";
  const std::string bpe = "train encoder.json and vocab.bpe first, then name their folder with --files";
  const TemporaryDirectory none;
  EXPECT_EQ(FailureOf([&] { MakeTokenizer("gpt2"); }), "tokenizer gpt2 needs files: " + gpt2);
  EXPECT_EQ(FailureOf([&] { MakeTokenizer("gpt2", none / "x"); }), none / "x/encoder.json: no such file; " + gpt2);
  EXPECT_EQ(FailureOf([&] { MakeTokenizer("bpe"); }), "tokenizer bpe needs files: " + bpe);
  WriteText(none / "encoder.json", "{}");
  EXPECT_EQ(FailureOf([&] { MakeTokenizer("bpe", none / ""); }), none / "vocab.bpe: no such file; " + bpe);
}

TEST(Tokenizers, Gpt2TakesItsOwnFilesOnly) {
  const TemporaryDirectory files;
  WriteBpe(SmallBpe(), files / "");
  const std::string failure = FailureOf([&] { MakeTokenizer("gpt2", files / ""); });
  EXPECT_EQ(failure.find(files / "encoder.json: is not GPT-2's: its SHA-256 is "), 0u) << failure;
  EXPECT_NE(failure.find("or use tokenizer bpe, which takes any such files"), std::string::npos) << failure;
}

}  // namespace
}  // namespace tra
