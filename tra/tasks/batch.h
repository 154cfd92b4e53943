// Examples as the rectangles a model takes.
#ifndef TRA_TASKS_BATCH_H_
#define TRA_TASKS_BATCH_H_

#include <cstdint>
#include <vector>

#include "tra/tasks/example.h"

namespace tra {

constexpr int64_t kUnsupervised = -100;  // the target of a position without an answer

// Sequences of like length, padded on the right.
struct BatchPart {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> tokens;   // [rows, columns]
  std::vector<int64_t> targets;  // [rows, columns] the next token where that is an answer, else kUnsupervised
  std::vector<int64_t> indices;  // [rows] numbers of the examples
  std::vector<int64_t> lengths;  // [rows] without the padding
  std::vector<int32_t> groups;   // [rows] of the examples
};

// Parts, not one rectangle: a step sees examples of all lengths, as they come, and yet computes little padding. Losses
// of parts are sums over answers, so that a step's loss does not depend on how it was parted.
struct Batch {
  std::vector<BatchPart> parts;
  int64_t answers = 0;  // supervised positions
  int64_t symbols = 0;  // positions without the padding
  int64_t padded = 0;   // positions with it
};

struct BatchOptions {
  // What a part costs a model beside its positions, in positions: more makes fewer parts with more padding.
  int64_t part_cost = 32;
  // The most positions of a part, if it has more than one row: for memory. 0: no limit.
  int64_t part_positions = 0;
};

// Of the examples first .. first + count - 1. Which examples step n sees is so by its number alone; resuming, and
// giving each of several processes its share, is choosing `first`.
Batch MakeBatch(const ExampleSource& source, uint64_t first, int64_t count, const BatchOptions& options = {});

}  // namespace tra

#endif  // TRA_TASKS_BATCH_H_
