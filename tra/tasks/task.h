// The table of tasks, with one row per task.
#ifndef TRA_TASKS_TASK_H_
#define TRA_TASKS_TASK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tra/tasks/evidence.h"
#include "tra/tasks/example.h"
#include "tra/tasks/random.h"
#include "tra/tasks/stretch.h"

namespace tra {

struct Range {
  int64_t low = 0, high = 0;  // both inclusive

  bool Has(int64_t value) const { return low <= value && value <= high; }
};

constexpr int64_t kLongest = 1 << 20;  // the limit of lengths that have no other limit

struct Split {
  const char* name;
  uint32_t number;      // determines the examples: never change it, never use it for another split
  Range lengths;        // drawn uniformly; see Kind::length_of
  int64_t examples;     // how many an evaluation takes by default
  bool ood = false;     // unlike anything in training: scores on it measure generalisation
  double ignore = 0.0;  // flipflop: the probability of an i
};

// Says which examples to make, with the options applied.
struct Recipe {
  Range lengths;
  int64_t symbols = 0;
  double ignore = 0.0;
};

// Says how examples of a kind are made and described.
struct Kind {
  const char* supervision;  // which symbols are answers, in words
  const char* length_of;    // what a length counts
  Range symbols;            // how many symbols strings may be drawn from
  Range (*lengths)(int64_t symbols);
  std::vector<std::string> (*names)(int64_t symbols);  // the names of all tokens, by id; [0] is the pad
  const char* separator;                               // between names in a line of text
  Example (*make)(const Recipe& recipe, Random& random);
  // Explains the answers, in a list of sentences.
  std::vector<std::string> (*explain)(const Example& example, const std::vector<std::string>& names);
  // Says for each answer, in their order, where it can be read; for packed examples too.
  std::vector<Evidence> (*evidence)(const Example& example);
  // Makes an example `factor` times as long with the same answers, by inserting irrelevant tokens; the token before an
  // answer stays before it. Returns nothing if the task has no example that long. Null for tasks all of whose tokens
  // are relevant.
  std::optional<Stretched> (*stretch)(const Example& example, int64_t factor, int64_t symbols, Random& random);
  std::vector<const char*> groups = {};  // names of groups of examples that are also scored separately
};

struct Task {
  const char* name;
  uint32_t number;  // determines the examples: never change it, never use it for another task
  const char* summary;
  Kind kind;
  int64_t symbols;  // how many symbols strings are drawn from by default
  std::vector<Split> splits;

  // Returns the stream that examples of a split are drawn from: one of Stream::kTasks for each task and split.
  uint32_t StreamWord(const Split& split) const { return 0x10000u * number + FirstOf(Stream::kTasks) + split.number; }
};

const std::vector<Task>& Tasks();

// Return the task or split of this name. Both throw std::invalid_argument that lists the known names.
const Task& FindTask(std::string_view name);
const Split& FindSplit(const Task& task, std::string_view name);

}  // namespace tra

#endif  // TRA_TASKS_TASK_H_
