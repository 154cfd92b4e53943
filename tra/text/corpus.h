// Finds the texts of a corpus.
#ifndef TRA_TEXT_CORPUS_H_
#define TRA_TEXT_CORPUS_H_

#include <map>
#include <string>
#include <vector>

namespace tra {

// Returns the names of all splits: train, valid, test.
const std::vector<std::string>& CorpusSplits();

struct Corpus {
  std::string directory;
  std::map<std::string, std::string> files;  // "train", "valid", "test" -> path, if there is one

  // Returns the path of a split's text. Throws std::runtime_error if the directory has no such file,
  // std::invalid_argument if there is no such split.
  const std::string& File(const std::string& split) const;
};

// Looks for wiki.SPLIT.raw, wiki.SPLIT.tokens and SPLIT.txt, where SPLIT is train, valid or test. Throws
// std::runtime_error if there are none, or two for one split.
Corpus FindCorpus(const std::string& directory);

}  // namespace tra

#endif  // TRA_TEXT_CORPUS_H_
