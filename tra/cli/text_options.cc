#include "tra/cli/text_options.h"

#include "tra/cli/output.h"
#include "tra/text/token_cache.h"

namespace tra::cli {

void AddTokenizerOptions(CLI::App& command, TokenizerChoice& choice) {
  std::string names;
  for (const TokenizerKind& each : TokenizerKinds()) names += (names.empty() ? "" : ", ") + std::string(each.name);
  command.add_option("--tokenizer", choice.name, "one of " + names)->capture_default_str();
  command.add_option("--files", choice.files, "folder with encoder.json and vocab.bpe, for gpt2 and bpe");
}

std::string CorpusChoice::CacheDirectory() const { return cache.empty() ? DefaultCacheDirectory() : cache; }

Corpus CorpusChoice::Find() const {
  Corpus corpus = FindCorpus(directory);
  if (!corpus.division.empty()) PrintWarning(corpus.division);
  return corpus;
}

TokenFile CorpusChoice::Open(const TextSource& text, const Tokenizer& with) const {
  OpenTokensOptions options;
  options.threads = threads;
  options.notice = PrintWarning;
  return OpenTokens(text, with, CacheDirectory(), options);
}

void AddCorpusOptions(CLI::App& command, CorpusChoice& choice) {
  command
      .add_option("corpus", choice.directory,
                  "folder with wiki.{train,valid,test}.{raw,tokens} or {train,valid,test}.txt; or one text, which is "
                  "divided into these")
      ->required();
  AddTokenizerOptions(command, choice.tokenizer);
  command.add_option("--cache", choice.cache, "folder for tokenised texts; by default $TRA_CACHE, else ~/.cache/tra");
  command.add_option("--threads", choice.threads, "threads to tokenise with; all cores by default")
      ->check(CLI::Range(1, 4096));
}

}  // namespace tra::cli
