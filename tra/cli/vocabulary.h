// What a model's tokens are called: how prompts are read, and how what follows them is written.
#ifndef TRA_CLI_VOCABULARY_H_
#define TRA_CLI_VOCABULARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tra/cli/text_options.h"
#include "tra/run/loaded_run.h"

namespace tra::cli {

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // Throws std::invalid_argument for what names no tokens.
  virtual std::vector<int32_t> Read(const std::string& text) const = 0;
  virtual std::string Word(int32_t token) const = 0;
  virtual std::string Separator() const = 0;                           // between words
  virtual std::optional<int32_t> End() const { return std::nullopt; }  // after it nothing more is to be said
};

// Of text where a tokenizer is chosen or the run has one, of a task's symbols, or of bare ids where a file is all there
// is. A run's texts are not needed. Throws std::invalid_argument for a tokenizer that is not the model's.
std::unique_ptr<Vocabulary> MakeVocabulary(const LoadedModel& loaded, const TokenizerChoice& choice);

}  // namespace tra::cli

#endif  // TRA_CLI_VOCABULARY_H_
