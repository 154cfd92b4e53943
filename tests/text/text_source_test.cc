#include "tra/text/text_source.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/base/files.h"
#include "tests/text/texts.h"
#include "tra/text/token_cache.h"
#include "tra/text/tokenizers.h"

namespace tra {
namespace {

std::string Part(const std::string& file, const std::string& part) {
  return std::string(PartOf(file, {"notes.txt", part}));
}

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(TextSource, AFileWithoutAPartIsWhole) { EXPECT_EQ(Part("x", ""), "x"); }

TEST(TextSource, ThePartsAreWholeLinesAndTogetherTheFile) {
  for (const int count : {40, 199, 1000}) {
    for (const bool ends : {true, false}) {
      std::string file = Lines(count);
      if (!ends) file.pop_back();
      const std::string train = Part(file, "train"), valid = Part(file, "valid"), test = Part(file, "test");
      EXPECT_EQ(train + valid + test, file);
      EXPECT_EQ(train.back(), '\n');
      EXPECT_EQ(valid.back(), '\n');
      EXPECT_EQ(valid.substr(0, 5), "line ");
      EXPECT_EQ(test.substr(0, 5), "line ");
      const auto size = static_cast<double>(file.size());
      EXPECT_NEAR(static_cast<double>(train.size()) / size, 0.9, 0.025);
      EXPECT_NEAR(static_cast<double>(valid.size()) / size, 0.05, 0.025);
    }
  }
}

TEST(TextSource, ABlankLineThatIsNearIsPreferred) {
  std::string file = Lines(1000);
  const std::string heading = "line 915\n";  // within the first half of what follows 90%
  file.insert(file.find(heading), " \n");
  EXPECT_EQ(Part(file, "valid").substr(0, heading.size()), heading);
  // One that is far is not: the sizes would be others.
  std::string far = Lines(1000);
  far.insert(far.find("line 940\n"), "\n");
  EXPECT_EQ(Part(far, "valid").substr(0, 8), "line 902");
}

TEST(TextSource, TooFewLinesAreRejected) {
  for (const std::string& file :
       {std::string("one line"), std::string(1000, 'x') + "\n", std::string("\n"), Lines(3)}) {
    const std::string said = FailureOf([&] { Part(file, "train"); });
    EXPECT_EQ(said.substr(0, 79), "notes.txt: has too few lines to be divided into train, valid and test texts; pu")
        << file;
  }
}

TEST(TextSource, TokensOfPartsAreKeptApart) {
  const TemporaryDirectory directory;
  const std::string path = directory / "notes.txt", text = Lines(200);
  WriteText(path, text);
  const auto bytes = MakeTokenizer("bytes", "");
  int64_t total = 0;
  for (const char* part : {"train", "valid", "test"}) {
    const TokenFile tokens = OpenTokens({path, part}, *bytes, directory / "cache");
    EXPECT_EQ(tokens.Size(), static_cast<int64_t>(Part(text, part).size()));
    EXPECT_EQ(tokens[0], static_cast<int64_t>(Part(text, part)[0]));
    total += tokens.Size();
  }
  EXPECT_EQ(total, static_cast<int64_t>(text.size()));
}

TEST(TextSource, FaultsAreCountedInLinesOfTheFile) {
  const TemporaryDirectory directory;
  const std::string path = directory / "notes.txt";
  std::string text = Lines(200);
  text.insert(text.find("line 198\n"), "\xff");
  WriteText(path, text);
  const auto bytes = MakeTokenizer("bytes", "");
  const std::string said = FailureOf([&] { OpenTokens({path, "test"}, *bytes, directory / "cache"); });
  EXPECT_NE(said.find("199"), std::string::npos) << said;
}

}  // namespace
}  // namespace tra
