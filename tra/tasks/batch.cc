#include "tra/tasks/batch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace tra {
namespace {

// Returns how many symbols a model reads: all but the last.
int64_t Columns(const Example& example) { return static_cast<int64_t>(example.tokens.size()) - 1; }

// Divides examples, in ascending order of length, so that positions and parts together cost least, and returns how many
// rows each part has. Uses dynamic programming: the best division of all examples contains the best division of the
// shorter ones.
std::vector<int64_t> PartRows(const std::vector<int64_t>& lengths, int64_t part_cost) {
  std::map<int64_t, int64_t> count;  // length -> rows
  for (const int64_t length : lengths) ++count[length];
  const std::vector<std::pair<int64_t, int64_t>> kinds(count.begin(), count.end());
  struct Best {
    int64_t cost = 0;
    size_t begin = 0;  // where in kinds the last part begins
  };
  std::vector<Best> best(kinds.size() + 1);  // best[n]: the best division of the first n kinds
  for (size_t n = 1; n <= kinds.size(); ++n) {
    best[n].cost = INT64_MAX;
    int64_t rows = 0;
    for (size_t begin = n; begin-- > 0;) {
      rows += kinds[begin].second;
      const int64_t cost = best[begin].cost + rows * kinds[n - 1].first + part_cost;
      if (cost < best[n].cost) best[n] = {cost, begin};
    }
  }
  std::vector<int64_t> parts;
  for (size_t n = kinds.size(); n > 0; n = best[n].begin) {
    int64_t rows = 0;
    for (size_t kind = best[n].begin; kind < n; ++kind) rows += kinds[kind].second;
    parts.push_back(rows);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

BatchPart MakePart(const std::vector<Example>& examples, const size_t* order, int64_t rows, uint64_t first) {
  BatchPart part;
  part.rows = rows;
  part.columns = Columns(examples[order[rows - 1]]);
  part.tokens.assign(static_cast<size_t>(rows * part.columns), kPad);
  part.targets.assign(static_cast<size_t>(rows * part.columns), kUnsupervised);
  for (int64_t row = 0; row < rows; ++row) {
    const Example& example = examples[order[row]];
    int64_t* tokens = part.tokens.data() + row * part.columns;
    int64_t* targets = part.targets.data() + row * part.columns;
    for (size_t at = 0; at + 1 < example.tokens.size(); ++at) {
      tokens[at] = example.tokens[at];
      if (example.supervised[at + 1] != 0) targets[at] = example.tokens[at + 1];
    }
    part.sequence_ids.push_back(static_cast<int64_t>(first + order[row]));
    part.lengths.push_back(Columns(example));
    part.groups.push_back(example.group);
  }
  return part;
}

}  // namespace

Batch MakeBatch(const ExampleSource& source, uint64_t first, int64_t count, const BatchOptions& options) {
  if (count < 1) throw std::invalid_argument("a batch needs at least 1 example, got " + std::to_string(count));
  std::vector<Example> examples;
  examples.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) examples.push_back(source.At(first + i));

  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return examples[a].tokens.size() < examples[b].tokens.size(); });
  Batch batch;
  std::vector<int64_t> lengths;
  for (const Example& example : examples) {
    lengths.push_back(Columns(example));
    batch.symbols += Columns(example);
    batch.answers += std::count(example.supervised.begin(), example.supervised.end(), 1);
  }
  const size_t* next = order.data();
  for (int64_t rows : PartRows(lengths, options.part_cost)) {
    while (rows > 0) {
      const int64_t longest = std::max<int64_t>(1, Columns(examples[next[rows - 1]]));
      const int64_t limit = options.part_positions > 0 ? std::max<int64_t>(1, options.part_positions / longest) : rows;
      const int64_t taken = std::min(rows, limit);
      batch.parts.push_back(MakePart(examples, next, taken, first));
      batch.padded += batch.parts.back().rows * batch.parts.back().columns;
      next += taken;
      rows -= taken;
    }
  }
  return batch;
}

}  // namespace tra
