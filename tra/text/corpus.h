// Finds the texts of a corpus.
#ifndef TRA_TEXT_CORPUS_H_
#define TRA_TEXT_CORPUS_H_

#include <map>
#include <string>
#include <vector>

#include "tra/text/text_source.h"

namespace tra {

// Returns the names of all splits: train, valid, test.
const std::vector<std::string>& CorpusSplits();

struct Corpus {
  std::string path;
  std::map<std::string, TextSource> texts;  // "train", "valid", "test", if there is one
  // Says that one file was divided into these texts, and how; empty if it was not.
  std::string division;

  // Returns the text of a split. Throws std::runtime_error if the corpus has no such text, std::invalid_argument if
  // there is no such split.
  const TextSource& Text(const std::string& split) const;
};

// Looks for wiki.SPLIT.raw, wiki.SPLIT.tokens and SPLIT.txt, where SPLIT is train, valid or test. A folder with a text
// for training only, or a file instead of a folder, is divided into all three (see PartOf). Throws std::runtime_error
// if there are no texts, or two for one split.
Corpus FindCorpus(const std::string& path);

}  // namespace tra

#endif  // TRA_TEXT_CORPUS_H_
