// Arranges examples as a model takes them: one after the other, without padding.
#ifndef TRA_TASKS_BATCH_H_
#define TRA_TASKS_BATCH_H_

#include <cstdint>
#include <vector>

#include "tra/tasks/example.h"

namespace tra {

constexpr int64_t kUnsupervised = -100;  // the target of a position without an answer

// Holds sequences of any lengths, one after the other in one row of tokens.
struct FlatBatch {
  std::vector<int64_t> tokens;         // of all sequences
  std::vector<int64_t> targets;        // the next token of each where that is an answer, else kUnsupervised
  std::vector<int32_t> offsets = {0};  // [sequences + 1]: where each sequence starts, and last where all end
  std::vector<int64_t> sequence_ids;   // [sequences]: where in their source the examples stand
  std::vector<int32_t> groups;         // [sequences]: Example::group of each

  size_t Sequences() const { return sequence_ids.size(); }
  int64_t Positions() const { return static_cast<int64_t>(tokens.size()); }
  // Ends the sequence that consists of the tokens and targets appended since the last one.
  void EndSequence(int64_t sequence_id, int32_t group = 0);
};

// Holds the examples of a step. They are divided into several parts only to limit memory: the loss of a part is a sum
// over its answers, so that a step's loss does not depend on how the step was divided.
struct Batch {
  std::vector<FlatBatch> parts;
  int64_t answers = 0;  // supervised positions
  int64_t symbols = 0;  // positions
};

// Makes a batch of the examples first .. first + count - 1, in parts of at most `part_positions` positions (0: no
// limit), or of one example if that is longer. Which examples step n sees depends on n alone. To resume, or to give
// each of several processes its share, choose `first`.
Batch MakeBatch(const ExampleSource& source, uint64_t first, int64_t count, int64_t part_positions = 0);

}  // namespace tra

#endif  // TRA_TASKS_BATCH_H_
