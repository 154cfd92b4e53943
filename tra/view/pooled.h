// Shows many cells of a matrix as one.
#ifndef TRA_VIEW_POOLED_H_
#define TRA_VIEW_POOLED_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tra/kernels/attention_rows.h"

namespace tra {

// Holds one cell for pool x pool of a matrix.
struct Pooled {
  Pooled(int64_t rows, int64_t columns)
      : columns(columns),
        values(static_cast<size_t>(rows * columns), std::numeric_limits<float>::quiet_NaN()),
        states(values.size(), static_cast<uint8_t>(KeyState::kFuture)) {}

  // Orders states by how much they matter to a reader: a cell is kept if any of its keys is.
  static int Rank(uint8_t state) {
    switch (static_cast<KeyState>(state)) {
      case KeyState::kFuture:
        return 0;
      case KeyState::kDropped:
        return 1;
      case KeyState::kSkipped:
        return 2;
      case KeyState::kKept:
        return 3;
    }
    return 0;
  }

  // Takes a cell into account. Values count among the cells of the highest rank only.
  void Add(int64_t row, int64_t column, uint8_t state, float value) {
    const auto at = static_cast<size_t>(row * columns + column);
    const int rank = Rank(state), before = Rank(states[at]);
    if (rank < before) return;
    if (rank > before || std::isnan(values[at]) || value > values[at]) values[at] = value;
    states[at] = state;
  }

  int64_t columns;
  std::vector<float> values;
  std::vector<uint8_t> states;
};

}  // namespace tra

#endif  // TRA_VIEW_POOLED_H_
