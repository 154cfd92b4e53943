// Tests GPT-2's own files on texts whose ids or numbers of tokens others have published. Skips what is missing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/base/files.h"
#include "tests/text/texts.h"
#include "tra/text/token_cache.h"
#include "tra/text/tokenizers.h"

namespace tra {
namespace {

class Gpt2 : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data_ / "gpt2-bpe/encoder.json")) {
      GTEST_SKIP() << "no GPT-2 files in " << data_ / "gpt2-bpe"
                   << "; TRA_DATA names the folder of gpt2-bpe";
    }
    tokenizer_ = MakeTokenizer("gpt2", data_ / "gpt2-bpe");
  }

  static std::filesystem::path DataDirectory() {
    const char* set = std::getenv("TRA_DATA");
    return set != nullptr ? std::filesystem::path(set) : std::filesystem::path(TRA_SOURCE_DIR) / "../shared/data";
  }

  const std::filesystem::path data_ = DataDirectory();
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(Gpt2, HasItsVocabulary) {
  EXPECT_EQ(tokenizer_->Vocabulary(), 50257);
  EXPECT_EQ(tokenizer_->EndOfText(), 50256);
  EXPECT_EQ(tokenizer_->Decode({50256}), "<|endoftext|>");
  EXPECT_EQ(tokenizer_->Encode("<|endoftext|>"), (std::vector<int32_t>{27, 91, 437, 1659, 5239, 91, 29}));
}

TEST_F(Gpt2, AgreesWithOtherImplementations) {
  std::ifstream vectors(data_ / "gpt2-bpe/vectors.jsonl");
  if (!vectors) GTEST_SKIP() << "no vectors.jsonl";
  int count = 0;
  for (std::string line; std::getline(vectors, line); ++count) {
    const nlohmann::json vector = nlohmann::json::parse(line);
    const std::string text = vector["text"];
    EXPECT_EQ(tokenizer_->Encode(text), vector["ids"].get<std::vector<int32_t>>()) << text;
    EXPECT_EQ(tokenizer_->Decode(vector["ids"]), text);
  }
  EXPECT_GT(count, 40);
}

TEST_F(Gpt2, GivesAnyBytesBack) {
  std::mt19937_64 random(11);
  for (size_t i = 0; i < 1000; ++i) {
    const std::string text = RandomBytes(random, i % 200);
    ASSERT_EQ(tokenizer_->Decode(tokenizer_->Encode(text)), text);
  }
}

TEST_F(Gpt2, CountsTheTokensAndWordsOfWikiText) {
  const struct {
    const char* file;
    int64_t tokens, words, lines;
  } kTexts[] = {
      {"wikitext-103/wiki.valid.raw", 249'887, 213'886, 3'760},
      {"wikitext-103/wiki.test.raw", 286'221, 241'211, 4'358},
      {"wikitext-2/wiki.test.tokens", 295'877, 241'211, 4'358},  // 245,569 words if each line end counts as one
  };
  const TemporaryDirectory cache;
  for (const auto& text : kTexts) {
    SCOPED_TRACE(text.file);
    if (!std::filesystem::exists(data_ / text.file)) GTEST_SKIP() << "no " << text.file;
    const TokenFile file = OpenTokens((data_ / text.file).string(), *tokenizer_, cache / "");
    EXPECT_EQ(file.Size(), text.tokens);
    EXPECT_EQ(file.Info().words, text.words);
    EXPECT_EQ(file.Info().lines, text.lines);
  }
}

}  // namespace
}  // namespace tra
