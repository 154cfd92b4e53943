// The table of tasks: one row each.
#ifndef TRA_TASKS_TASK_H_
#define TRA_TASKS_TASK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tra/tasks/example.h"
#include "tra/tasks/random.h"

namespace tra {

struct Range {
  int64_t low = 0, high = 0;  // both belong to it

  bool Has(int64_t value) const { return low <= value && value <= high; }
};

constexpr int64_t kLongest = 1 << 20;  // of what has no bound of its own

struct Split {
  const char* name;
  uint32_t number;      // examples are drawn from it: never changed, never used again
  Range lengths;        // uniform; see Kind::length_of
  int64_t examples;     // that an evaluation takes, unless told otherwise
  bool ood = false;     // unlike anything in training: a score on it is one of generalisation
  double ignore = 0.0;  // flipflop: the probability of an i
};

// What an example is to be, after options.
struct Recipe {
  Range lengths;
  int64_t symbols = 0;
  double ignore = 0.0;
};

// How examples of a kind are made and spoken of.
struct Kind {
  const char* supervision;  // which symbols are answers, in words
  const char* length_of;    // what a length counts
  Range symbols;            // how many symbols strings may be drawn from
  Range (*lengths)(int64_t symbols);
  std::vector<std::string> (*names)(int64_t symbols);  // of all tokens, by id; [0] is the pad
  const char* separator;                               // between names in a line of text
  Example (*make)(const Recipe& recipe, Random& random);
  // The answers in words, a sentence each.
  std::vector<std::string> (*explain)(const Example& example, const std::vector<std::string>& names);
  std::vector<const char*> groups = {};  // examples that are also scored apart, by Example::group
};

struct Task {
  const char* name;
  uint32_t number;  // examples are drawn from it: never changed, never used again
  const char* summary;
  Kind kind;
  int64_t symbols;  // that strings are drawn from, unless told otherwise
  std::vector<Split> splits;

  // Apart from the draws of dropout, labels and sampling, which use small numbers.
  uint32_t Stream(const Split& split) const { return 0x10000u * number + 0x100u + split.number; }
};

const std::vector<Task>& Tasks();

// Both throw std::invalid_argument with the names there are.
const Task& FindTask(std::string_view name);
const Split& FindSplit(const Task& task, std::string_view name);

}  // namespace tra

#endif  // TRA_TASKS_TASK_H_
