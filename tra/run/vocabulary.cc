#include "tra/run/vocabulary.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tra/run/data.h"
#include "tra/tasks/example_folder.h"
#include "tra/tasks/symbols.h"
#include "tra/tasks/task.h"

namespace tra {
namespace {

class TextVocabulary : public Vocabulary {
 public:
  explicit TextVocabulary(std::unique_ptr<Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}

  std::vector<int32_t> Read(const std::string& text) const override { return tokenizer_->Encode(text); }
  // The token for the end of a text is not part of the text.
  std::string Word(int32_t token) const override { return token == End() ? "" : std::string(tokenizer_->Bytes(token)); }
  std::string Separator() const override { return ""; }
  std::optional<int32_t> End() const override { return tokenizer_->EndOfText(); }

 private:
  std::unique_ptr<Tokenizer> tokenizer_;
};

class SymbolVocabulary : public Vocabulary {
 public:
  explicit SymbolVocabulary(Symbols symbols) : symbols_(std::move(symbols)) {}

  std::vector<int32_t> Read(const std::string& text) const override { return ParseSymbols(text, symbols_); }
  std::string Word(int32_t token) const override { return symbols_.names.at(static_cast<size_t>(token)); }
  std::string Separator() const override { return symbols_.separator; }
  std::optional<int32_t> End() const override {
    const auto found = std::find(symbols_.names.begin(), symbols_.names.end(), "EOS");
    if (found == symbols_.names.end()) return std::nullopt;
    return static_cast<int32_t>(found - symbols_.names.begin());
  }

 private:
  Symbols symbols_;
};

class IdVocabulary : public Vocabulary {
 public:
  std::vector<int32_t> Read(const std::string& /*text*/) const override {
    throw std::invalid_argument(
        "a file of weights does not say what its tokens are; name its tokenizer with --tokenizer and --files, or give "
        "--ids");
  }
  std::string Word(int32_t token) const override { return std::to_string(token); }
  std::string Separator() const override { return " "; }
};

void CheckSize(const std::string& whose, int64_t size, const ModelConfig& config) {
  if (size == config.vocabulary) return;
  throw std::invalid_argument(whose + " has " + std::to_string(size) + " tokens, but the model has " +
                              std::to_string(config.vocabulary) +
                              "; name the tokenizer it was trained with (--tokenizer, --files)");
}

}  // namespace

std::unique_ptr<Vocabulary> MakeVocabulary(const LoadedModel& loaded, const TokenizerChoice& choice) {
  const bool text_run = loaded.config && loaded.config->data.task == "text";
  if (!choice.name.empty() || text_run) {
    TokenizerChoice from = choice;
    if (from.name.empty()) from.name = loaded.config->data.tokenizer;
    if (from.files.empty() && text_run) from.files = loaded.config->data.tokenizer_files;
    std::unique_ptr<Tokenizer> tokenizer = from.Make();
    CheckSize("tokenizer " + tokenizer->Name(), tokenizer->Vocabulary(), loaded.model->config);
    return std::make_unique<TextVocabulary>(std::move(tokenizer));
  }
  if (!loaded.config) return std::make_unique<IdVocabulary>();
  const DataConfig& data = loaded.config->data;
  const std::string help = "tra data show " + data.task;
  if (data.task == "jsonl") {
    return std::make_unique<SymbolVocabulary>(Symbols{TaskName(data), " ",
                                                      ReadTokenNames(data.folder, loaded.model->config.vocabulary),
                                                      help + " --folder " + data.folder});
  }
  const Task& task = FindTask(data.task);
  std::vector<std::string> names = task.kind.names(data.symbols > 0 ? data.symbols : task.symbols);
  CheckSize("task " + data.task, static_cast<int64_t>(names.size()), loaded.model->config);
  return std::make_unique<SymbolVocabulary>(Symbols{data.task, task.kind.separator, std::move(names), help});
}

}  // namespace tra
