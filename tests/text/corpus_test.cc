#include "tra/text/corpus.h"

#include <gtest/gtest.h>

#include "tests/base/files.h"
#include "tests/text/texts.h"

namespace tra {
namespace {

TEST(FindCorpus, KnowsAllFormsAndMixesOfThem) {
  const TemporaryDirectory directory;
  WriteText(directory / "wiki.train.raw", "x");
  WriteText(directory / "wiki.valid.tokens", "x");
  WriteText(directory / "test.txt", "x");
  WriteText(directory / "README", "x");
  const Corpus corpus = FindCorpus(directory / "");
  EXPECT_EQ(corpus.texts.size(), 3u);
  EXPECT_EQ(corpus.Text("train").path, directory / "wiki.train.raw");
  EXPECT_EQ(corpus.Text("valid").path, directory / "wiki.valid.tokens");
  EXPECT_EQ(corpus.Text("test").path, directory / "test.txt");
  EXPECT_EQ(corpus.Text("test").part, "");
  EXPECT_EQ(corpus.division, "");
}

TEST(FindCorpus, AMissingSplitMattersWhenAskedFor) {
  const TemporaryDirectory directory;
  WriteText(directory / "train.txt", "x");
  WriteText(directory / "test.txt", "x");
  const Corpus corpus = FindCorpus(directory / "");
  EXPECT_EQ(FailureOf([&] { corpus.Text("valid"); }),
            directory / "" +
                ": has no valid text; looked for wiki.valid.raw, wiki.valid.tokens and valid.txt; put one "
                "of them there or name another directory");
  EXPECT_EQ(FailureOf([&] { corpus.Text("tests"); }),
            "corpus: unknown split 'tests'; did you mean 'test'? There are train, valid, test");
}

TEST(FindCorpus, OneTextIsDividedAndThatIsSaid) {
  const TemporaryDirectory directory;
  const std::string file = directory / "train.txt";
  WriteText(file, "x");
  for (const std::string& path : {directory / "", file}) {
    const Corpus corpus = FindCorpus(path);
    EXPECT_EQ(corpus.division,
              file +
                  " is the only text, so it is divided: the first 90% are train, the next 5% valid, the last 5% test, "
                  "cut at ends of lines");
    for (const std::string& split : CorpusSplits()) {
      EXPECT_EQ(corpus.Text(split).path, file);
      EXPECT_EQ(corpus.Text(split).part, split);
    }
  }
}

TEST(FindCorpus, TwoFormsOfOneSplitAreNamed) {
  const TemporaryDirectory directory;
  WriteText(directory / "wiki.test.raw", "x");
  WriteText(directory / "test.txt", "x");
  EXPECT_EQ(FailureOf([&] { FindCorpus(directory / ""); }), directory / "" + ": has two test texts, " +
                                                                directory / "wiki.test.raw" + " and " +
                                                                directory / "test.txt" + "; leave one of them there");
}

TEST(FindCorpus, DirectoriesWithoutTextsAndNoDirectoriesAreRejected) {
  const TemporaryDirectory directory;
  EXPECT_EQ(FailureOf([&] { FindCorpus(directory / ""); }),
            directory / "" +
                ": no text there; looked for wiki.train.raw, wiki.train.tokens and train.txt, and the same "
                "for valid and test");
  EXPECT_EQ(FailureOf([&] { FindCorpus(directory / "none"); }),
            directory / "none" +
                ": no such directory; name one that holds wiki.train.raw, wiki.train.tokens or train.txt, or a text");
}

}  // namespace
}  // namespace tra
