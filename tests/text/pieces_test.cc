#include "tra/text/pieces.h"

#include <gtest/gtest.h>

#include "tests/text/texts.h"
#include "tra/text/cuts.h"

namespace tra {
namespace {

using Engine = Pieces::Engine;
using Strings = std::vector<std::string>;

Strings Split(std::string_view text, Engine engine = Engine::kFastest) {
  Strings all;
  Pieces pieces(text, engine);
  for (std::string_view piece; pieces.Next(piece);) all.emplace_back(piece);
  return all;
}

std::string Utf8(uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

std::string ThreeAndAWord(const std::string& c) { return c + c + c + "x"; }

TEST(Pieces, AreWordsNumbersAndTheRestWithASpaceBefore) {
  EXPECT_EQ(Split(""), Strings{});
  EXPECT_EQ(Split("Hello world"), (Strings{"Hello", " world"}));
  EXPECT_EQ(Split("abc123!? 4x ... y"), (Strings{"abc", "123", "!?", " 4", "x", " ...", " y"}));
  EXPECT_EQ(Split("größe 日本 ½٣"), (Strings{"größe", " 日本", " ½٣"}));
}

TEST(Pieces, ContractionsAreLowerCaseAndComeFirst) {
  EXPECT_EQ(Split("it's I'll we've they're I'm he'd don't"),
            (Strings{"it", "'s", " I", "'ll", " we", "'ve", " they", "'re", " I", "'m", " he", "'d", " don", "'t"}));
  EXPECT_EQ(Split("IT'S 'tis x'y"), (Strings{"IT", "'", "S", " '", "tis", " x", "'", "y"}));
}

TEST(Pieces, ARunOfSpacesLeavesTheLastOneToTheNextWord) {
  EXPECT_EQ(Split("a   b"), (Strings{"a", "  ", " b"}));
  EXPECT_EQ(Split("a \n b"), (Strings{"a", " \n", " b"}));
  EXPECT_EQ(Split("a\n\nb"), (Strings{"a", "\n", "\n", "b"}));
  EXPECT_EQ(Split("a  "), (Strings{"a", "  "}));
  EXPECT_EQ(Split("\t"), Strings{"\t"});
}

TEST(Pieces, SpacesAreThoseOfUnicodeAndNoOthers) {
  std::vector<uint32_t> spaces = {0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  for (uint32_t code = 9; code <= 13; ++code) spaces.push_back(code);
  for (uint32_t code = 0x2000; code <= 0x200A; ++code) spaces.push_back(code);
  std::vector<uint32_t> others = {0x00, 0x08, 0x0E, 0x1C,   0x1D,   0x1E,   0x1F,
                                  0x7F, 0x84, 0x86, 0x180E, 0x200B, 0x2060, 0xFEFF};
  for (const Engine engine : {Engine::kFastest, Engine::kInterpreter}) {
    for (const uint32_t code : spaces) {
      SCOPED_TRACE(code);
      const std::string c = Utf8(code);
      // Two spaces are a piece; the third joins the word only if it is U+0020.
      const Strings want = code == ' ' ? Strings{c + c, c + "x"} : Strings{c + c, c, "x"};
      EXPECT_EQ(Split(ThreeAndAWord(c), engine), want);
      EXPECT_EQ(Split("!" + c, engine), (Strings{"!", c}));
    }
    for (const uint32_t code : others) {
      SCOPED_TRACE(code);
      EXPECT_EQ(Split("!" + Utf8(code), engine), Strings{"!" + Utf8(code)});
      EXPECT_EQ(Split(" " + Utf8(code), engine), Strings{" " + Utf8(code)});
    }
  }
}

TEST(Pieces, BytesThatAreNotUtf8StandAlone) {
  EXPECT_EQ(Split("ab\xFF\xFE"
                  "cd"),
            (Strings{"ab", "\xFF", "\xFE", "cd"}));
  EXPECT_EQ(Split("a\xE6\x97"), (Strings{"a", "\xE6", "\x97"}));        // cut off
  EXPECT_EQ(Split("\xC0\xAF"), (Strings{"\xC0", "\xAF"}));              // overlong
  EXPECT_EQ(Split("\xED\xA0\x80"), (Strings{"\xED", "\xA0", "\x80"}));  // surrogate
  EXPECT_EQ(Split("a  \xFF"), (Strings{"a", "  ", "\xFF"}));            // as if the text ended there
}

TEST(Pieces, NulIsACharacterLikeOthers) {
  EXPECT_EQ(Split(std::string_view("a\0\0b", 4)), (Strings{"a", std::string(2, '\0'), "b"}));
}

TEST(Pieces, TogetherAreTheTextAndTheSameFromBothEnginesAndOverCuts) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = i % 2 == 0 ? RandomText(random, i % 40) : RandomBytes(random, i % 40);
    const Strings pieces = Split(text);
    std::string together;
    for (const std::string& piece : pieces) {
      ASSERT_FALSE(piece.empty());
      together += piece;
    }
    ASSERT_EQ(together, text);
    ASSERT_EQ(Split(text, Engine::kInterpreter), pieces);
    for (size_t from = 0; from <= text.size(); ++from) {
      const size_t cut = NextCut(text, from);
      Strings parts = Split(std::string_view(text).substr(0, cut));
      for (std::string& piece : Split(std::string_view(text).substr(cut))) parts.push_back(std::move(piece));
      ASSERT_EQ(parts, pieces) << "cut at " << cut;
    }
  }
}

// Splits runs of ten million equal characters: they must not hit a limit of PCRE2 or take quadratic time.
TEST(Pieces, MayBeVeryLong) {
  constexpr size_t kSize = 10'000'000;
  for (const Engine engine : {Engine::kFastest, Engine::kInterpreter}) {
    for (const char c : {'a', '1', '!', ' ', '\n'}) {
      SCOPED_TRACE(c);
      const std::string run(kSize, c);
      EXPECT_EQ(Split(run, engine).size(), 1u);
      EXPECT_EQ(Split(run + " x", engine), (Strings{run, " x"}));
    }
  }
}

TEST(Pieces, ManyInvalidBytesTakeLinearTime) {
  const std::string bytes(1'000'000, '\xFF');
  for (const Engine engine : {Engine::kFastest, Engine::kInterpreter})
    EXPECT_EQ(Split(bytes, engine).size(), bytes.size());
}

TEST(Pieces, ManyShortOnesWithoutACutTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "日本、";
  for (const Engine engine : {Engine::kFastest, Engine::kInterpreter}) EXPECT_EQ(Split(text, engine).size(), 600'000u);
}

}  // namespace
}  // namespace tra
