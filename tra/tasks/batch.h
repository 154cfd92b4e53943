// Arranges examples in the rectangles that a model takes.
#ifndef TRA_TASKS_BATCH_H_
#define TRA_TASKS_BATCH_H_

#include <cstdint>
#include <vector>

#include "tra/tasks/example.h"

namespace tra {

constexpr int64_t kUnsupervised = -100;  // the target of a position without an answer

// Holds sequences of similar length, padded on the right.
struct BatchPart {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> tokens;        // [rows, columns]
  std::vector<int64_t> targets;       // [rows, columns] the next token where that is an answer, else kUnsupervised
  std::vector<int64_t> sequence_ids;  // [rows] where in their source the examples stand
  std::vector<int64_t> lengths;       // [rows] without the padding
  std::vector<int32_t> groups;        // [rows] Example::group of each
};

// Holds the examples of a step in parts, not in one rectangle: a step sees examples of all lengths, as they are drawn,
// and still computes little padding. The loss of a part is a sum over its answers, so that a step's loss does not
// depend on how the step was divided.
struct Batch {
  std::vector<BatchPart> parts;
  int64_t answers = 0;  // supervised positions
  int64_t symbols = 0;  // positions without the padding
  int64_t padded = 0;   // positions with the padding
};

struct BatchOptions {
  // The fixed cost of a part, in positions: a larger value gives fewer parts with more padding.
  int64_t part_cost = 32;
  // The most positions that a part of more than one row may have, to limit memory. 0: no limit.
  int64_t part_positions = 0;
};

// Makes a batch of the examples first .. first + count - 1. Which examples step n sees depends on n alone. To resume,
// or to give each of several processes its share, choose `first`.
Batch MakeBatch(const ExampleSource& source, uint64_t first, int64_t count, const BatchOptions& options = {});

}  // namespace tra

#endif  // TRA_TASKS_BATCH_H_
