// The table of all tokenizers.
#ifndef TRA_TEXT_TOKENIZERS_H_
#define TRA_TEXT_TOKENIZERS_H_

#include <memory>
#include <string>
#include <vector>

#include "tra/text/tokenizer.h"

namespace tra {

struct TokenizerKind {
  const char* name;
  const char* summary;
  // Makes the tokenizer from the folder that holds its files.
  std::unique_ptr<Tokenizer> (*make)(const std::string& files);
};

const std::vector<TokenizerKind>& TokenizerKinds();

// Makes the tokenizer of this name. Throws std::invalid_argument for an unknown name or if a folder is needed and none
// is given, std::runtime_error for files that are missing, damaged or not the expected ones.
std::unique_ptr<Tokenizer> MakeTokenizer(const std::string& name, const std::string& files = "");

// Says which tokenizer to make, as users choose it.
struct TokenizerChoice {
  std::string name = "bytes", files;

  std::unique_ptr<Tokenizer> Make() const { return MakeTokenizer(name, files); }
};

}  // namespace tra

#endif  // TRA_TEXT_TOKENIZERS_H_
