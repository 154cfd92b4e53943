// Names a model's tokens: reads prompts, and writes what follows them.
#ifndef TRA_RUN_VOCABULARY_H_
#define TRA_RUN_VOCABULARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tra/run/loaded_run.h"
#include "tra/text/tokenizers.h"

namespace tra {

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // Turns text into tokens. Throws std::invalid_argument for text that names no tokens.
  virtual std::vector<int32_t> Read(const std::string& text) const = 0;
  virtual std::string Word(int32_t token) const = 0;
  virtual std::string Separator() const = 0;                           // between words
  virtual std::optional<int32_t> End() const { return std::nullopt; }  // the token that ends a sequence
};

// Makes the vocabulary of a model: of text if a tokenizer is chosen or the run has one, of its task's symbols, or of
// bare ids if there is only a file. Does not need the run's texts. Throws std::invalid_argument for a tokenizer that is
// not the model's.
std::unique_ptr<Vocabulary> MakeVocabulary(const LoadedModel& loaded, const TokenizerChoice& choice);

}  // namespace tra

#endif  // TRA_RUN_VOCABULARY_H_
