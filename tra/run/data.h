// Opens the data of a run: what it trains on and what it is scored on.
#ifndef TRA_RUN_DATA_H_
#define TRA_RUN_DATA_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tra/run/config.h"
#include "tra/tasks/example_folder.h"
#include "tra/tasks/generated.h"
#include "tra/text/token_file.h"
#include "tra/text/tokenizer.h"

namespace tra {

// Makes examples from windows of a text: every token but the first is an answer.
class TextWindows : public ExampleSource {
 public:
  TextWindows(const TokenFile& tokens, int64_t length, uint64_t seed);
  Example At(uint64_t index) const override;

 private:
  const TokenFile& tokens_;
  int64_t length_;
  uint64_t seed_;
};

class RunData {
 public:
  using Notice = std::function<void(const std::string&)>;

  // Opens what the configuration names; `notice` is told what takes long. Throws std::invalid_argument for bad values,
  // std::runtime_error for bad files.
  explicit RunData(const RunConfig& config, Notice notice = nullptr);

  bool IsText() const { return config_.data.task == "text"; }
  int64_t Vocabulary() const;
  int64_t TrainLength() const { return train_length_; }  // positions of the longest sequence of training
  int64_t Longest() const { return longest_; }           // positions of the longest sequence that is scored
  // Returns the text of a token, for tasks and for text.
  std::string TokenText(int32_t token) const;

  // Returns the examples to train on, without end.
  const ExampleSource& Train() const { return *train_; }

  // Only for tasks and for examples from files.
  const std::vector<std::string>& Groups() const { return groups_; }  // of examples that are also scored separately
  std::vector<std::string> Splits() const;                            // all there are
  std::vector<std::string> EvalSplits() const;                        // to score
  // Throws std::invalid_argument for an unknown split, and for lengths that there are not.
  std::shared_ptr<const ExampleSource> Eval(const std::string& split,
                                            std::optional<Range> lengths = std::nullopt) const;
  // Only for text.
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const TokenFile& Text(const std::string& split) const;  // opened when first asked for

  // Returns the SHA-256 of all that training and scoring read, by name; nothing for what is generated.
  std::map<std::string, std::string> Checksums() const;

 private:
  void OpenTask();
  void OpenFolder();
  void OpenText();

  RunConfig config_;
  Notice notice_;
  const Task* task_ = nullptr;  // of generated examples
  std::unique_ptr<ExampleFolder> folder_;
  std::vector<std::string> names_, groups_;
  std::unique_ptr<Tokenizer> tokenizer_;
  mutable std::map<std::string, TokenFile> texts_;
  std::shared_ptr<const ExampleSource> train_;
  int64_t train_length_ = 0, longest_ = 0;
};

// Returns the task as results and documents call it: examples of one's own by the name of their folder, "jsonl-parity".
std::string TaskName(const DataConfig& data);

// Returns the splits of a corpus that training and scoring will read.
std::vector<std::string> TextSplits(const RunConfig& config);

// Checks a run before it leaves anything behind: throws if values do not fit together or files are missing. Does not
// read texts. Returns the model that it trains.
ModelConfig CheckRun(const RunConfig& config);

}  // namespace tra

#endif  // TRA_RUN_DATA_H_
