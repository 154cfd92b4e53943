// Generates the examples of a split of a task when they are asked for.
#ifndef TRA_TASKS_GENERATED_H_
#define TRA_TASKS_GENERATED_H_

#include <optional>
#include <string>
#include <vector>

#include "tra/tasks/example.h"
#include "tra/tasks/task.h"

namespace tra {

struct TaskOptions {
  std::optional<Range> lengths;    // instead of the split's
  std::optional<int64_t> symbols;  // instead of the task's
  // Fills each sequence with one example after the other, up to this many symbols. 0: one example per sequence.
  int64_t pack = 0;
  // Puts 0 to this many pads, drawn uniformly, before each sequence, so that positions do not always begin at 0.
  int64_t offset = 0;
};

// Generates examples. At(index) is a pure function of (task, split, seed, index) and the options.
class GeneratedExamples : public ExampleSource {
 public:
  // Throws std::invalid_argument that names the value and what it may be.
  GeneratedExamples(const std::string& task, const std::string& split, uint64_t seed, const TaskOptions& options = {});

  Example At(uint64_t index) const override;

  const Task& task() const { return *task_; }
  const Split& split() const { return *split_; }
  uint64_t seed() const { return seed_; }
  const TaskOptions& options() const { return options_; }
  const Recipe& recipe() const { return recipe_; }
  const std::vector<std::string>& names() const { return names_; }  // of all tokens of the vocabulary, by id

 private:
  const Task* task_;
  const Split* split_;
  uint64_t seed_;
  TaskOptions options_;
  Recipe recipe_;
  std::vector<std::string> names_;
};

}  // namespace tra

#endif  // TRA_TASKS_GENERATED_H_
