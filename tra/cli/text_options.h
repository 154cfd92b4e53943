// Adds the options by which commands choose a tokenizer and a corpus.
#ifndef TRA_CLI_TEXT_OPTIONS_H_
#define TRA_CLI_TEXT_OPTIONS_H_

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "tra/text/corpus.h"
#include "tra/text/token_file.h"
#include "tra/text/tokenizers.h"

namespace tra::cli {

void AddTokenizerOptions(CLI::App& command, TokenizerChoice& choice);

struct CorpusChoice {
  std::string directory, cache;
  size_t threads = 0;
  TokenizerChoice tokenizer;

  // Finds the texts, and says on standard error if one is divided into all.
  Corpus Find() const;
  // Opens the tokens of a text, and says on standard error what takes time.
  TokenFile Open(const TextSource& text, const Tokenizer& with) const;
  std::string CacheDirectory() const;
};
void AddCorpusOptions(CLI::App& command, CorpusChoice& choice);

}  // namespace tra::cli

#endif  // TRA_CLI_TEXT_OPTIONS_H_
