// Where the texts of a corpus are.
#ifndef TRA_TEXT_CORPUS_H_
#define TRA_TEXT_CORPUS_H_

#include <map>
#include <string>

namespace tra {

struct Corpus {
  std::string directory;
  std::map<std::string, std::string> files;  // "train", "valid", "test" -> path; those that are there

  // Throws std::runtime_error if the directory has no such file, std::invalid_argument if there is no such split.
  const std::string& File(const std::string& split) const;
};

// Looks for wiki.SPLIT.raw, wiki.SPLIT.tokens and SPLIT.txt, SPLIT being train, valid and test. Throws
// std::runtime_error if there are none, or two of one split.
Corpus FindCorpus(const std::string& directory);

}  // namespace tra

#endif  // TRA_TEXT_CORPUS_H_
