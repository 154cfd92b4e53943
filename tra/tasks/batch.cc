#include "tra/tasks/batch.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace tra {

void FlatBatch::EndSequence(int64_t sequence_id, int32_t group) {
  if (tokens.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw std::invalid_argument("a part of a batch has " + std::to_string(tokens.size()) +
                                " positions, more than offsets can count; set a limit with train.part_positions");
  }
  offsets.push_back(static_cast<int32_t>(tokens.size()));
  sequence_ids.push_back(sequence_id);
  groups.push_back(group);
}

Batch MakeBatch(const ExampleSource& source, uint64_t first, int64_t count, int64_t part_positions) {
  if (count < 1) throw std::invalid_argument("a batch needs at least 1 example, got " + std::to_string(count));
  Batch batch;
  for (uint64_t i = first; i < first + static_cast<uint64_t>(count); ++i) {
    const Example example = source.At(i);
    // A model reads all symbols but the last.
    const auto length = static_cast<int64_t>(example.tokens.size()) - 1;
    const bool full =
        !batch.parts.empty() && part_positions > 0 && batch.parts.back().Positions() + length > part_positions;
    if (batch.parts.empty() || full) batch.parts.emplace_back();
    FlatBatch& part = batch.parts.back();
    for (size_t at = 0; at + 1 < example.tokens.size(); ++at) {
      part.tokens.push_back(example.tokens[at]);
      part.targets.push_back(example.supervised[at + 1] != 0 ? example.tokens[at + 1] : kUnsupervised);
    }
    part.EndSequence(static_cast<int64_t>(i), example.group);
    batch.symbols += length;
    batch.answers += std::count(example.supervised.begin(), example.supervised.end(), 1);
  }
  return batch;
}

}  // namespace tra
