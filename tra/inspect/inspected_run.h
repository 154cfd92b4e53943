// Looks into a trained run: inputs by number or by name, what the model answers, and how its heads arrive at it.
#ifndef TRA_INSPECT_INSPECTED_RUN_H_
#define TRA_INSPECT_INSPECTED_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tra/model/attention/record.h"
#include "tra/run/data.h"
#include "tra/run/loaded_run.h"
#include "tra/run/vocabulary.h"
#include "tra/tasks/example.h"

namespace tra {

// Says what a model takes to be the most likely next token.
struct Prediction {
  int32_t token = 0;
  float probability = 0;
};

// Names one matrix of a model.
struct HeadId {
  int64_t layer = 0, head = 0;
  int64_t attention = 0;  // which of the layer's attentions: always 0, except for diff, which subtracts 1 from 0
};

// Holds what a model did with one sequence.
struct Inspection {
  std::vector<int32_t> tokens;
  std::vector<Prediction> predictions;  // by position
  AttentionRecord record;

  // Returns the attention that has this head, as recorded. Throws std::invalid_argument that says what there is.
  const RecordedAttention& Attention(const HeadId& head) const;
  // Returns a part of the matrix of one head: [queries, keys], and [queries] for the last two. With `rule_input`, of
  // one query only, the rule gets this number there in place of the model's, such as another log gate.
  AttentionMatrix Matrix(const HeadId& head, const MatrixPart& part = {},
                         std::optional<float> rule_input = std::nullopt) const;
};

class InspectedRun {
 public:
  // Loads the newest sound checkpoint, or the given step, as LoadRun does.
  InspectedRun(const std::string& path, at::Device device, Warning warning, std::optional<int64_t> step = std::nullopt);

  const RunConfig& config() const { return *loaded_.config; }
  const Decoder& model() const { return *loaded_.model; }
  int64_t step() const { return step_; }
  const std::string& path() const { return path_; }
  const Warning& warning() const { return warning_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const Task* task() const;  // null for text, and for examples from files
  bool IsText() const { return config().data.task == "text"; }

  // Returns an example of a split that the run is scored on: of a task the one of this number, of a text the window of
  // this number, as long as those of training. `length` is another length, in tokens of a text, or as the task counts
  // it (Kind::length_of). Opens the run's texts when first asked. Throws std::invalid_argument for a split, a number or
  // a length that is not there.
  Example At(const std::string& split, uint64_t index, std::optional<int64_t> length = std::nullopt);
  std::vector<std::string> Splits();
  // Returns how many examples a split has; nothing for one without end. Throws like At.
  std::optional<uint64_t> Size(const std::string& split);

  // Runs the model, without gradients. Throws std::invalid_argument for no tokens, for ids that are not in the
  // vocabulary, and for more tokens than the model has positions; std::runtime_error if what it computes is not finite.
  Inspection Inspect(const std::vector<int32_t>& tokens) const;

 private:
  RunData& Data();
  const TokenFile& Text(const std::string& split);

  std::string path_;
  LoadedModel loaded_;
  int64_t step_ = 0;
  Warning warning_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<RunData> data_;  // opened when first needed
};

}  // namespace tra

#endif  // TRA_INSPECT_INSPECTED_RUN_H_
