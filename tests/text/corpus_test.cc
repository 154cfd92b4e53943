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
  EXPECT_EQ(corpus.files.size(), 3u);
  EXPECT_EQ(ReadBytes(corpus.File("train")), "x");
  EXPECT_EQ(corpus.File("train"), directory / "wiki.train.raw");
  EXPECT_EQ(corpus.File("valid"), directory / "wiki.valid.tokens");
  EXPECT_EQ(corpus.File("test"), directory / "test.txt");
}

TEST(FindCorpus, AMissingSplitMattersWhenAskedFor) {
  const TemporaryDirectory directory;
  WriteText(directory / "train.txt", "x");
  const Corpus corpus = FindCorpus(directory / "");
  EXPECT_EQ(FailureOf([&] { corpus.File("valid"); }),
            directory / "" +
                ": has no valid text; looked for wiki.valid.raw, wiki.valid.tokens and valid.txt; put one "
                "of them there or name another directory");
  EXPECT_EQ(FailureOf([&] { corpus.File("tests"); }),
            "corpus: unknown split 'tests'; did you mean 'test'? There are train, valid, test");
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
  EXPECT_EQ(
      FailureOf([&] { FindCorpus(directory / "none"); }),
      directory / "none" + ": no such directory; name one that holds wiki.train.raw, wiki.train.tokens or train.txt");
}

}  // namespace
}  // namespace tra
