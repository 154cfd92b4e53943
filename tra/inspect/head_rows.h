// Visits rows of the attention matrix of a head, a few at a time, so that long sequences need little memory.
#ifndef TRA_INSPECT_HEAD_ROWS_H_
#define TRA_INSPECT_HEAD_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tra/inspect/inspected_run.h"
#include "tra/kernels/attention_rows.h"

namespace tra {

// Shows what one query does with the keys 0 to itself. It is valid only while it is visited.
struct HeadRow {
  size_t query;
  const uint8_t* state;  // KeyState
  const float *position, *weight;
  size_t stopped_at;  // the first key that the walk visited

  size_t Keys() const { return query + 1; }
  // Says whether the key passed the threshold, also if the walk had stopped before it.
  bool Keeps(size_t key) const {
    const auto key_state = static_cast<KeyState>(state[key]);
    return key_state == KeyState::kKept || key_state == KeyState::kSkipped;
  }
};

// Visits the rows of these queries, which must be in ascending order and differ.
void VisitRows(const Inspection& inspection, const HeadId& head, const std::vector<size_t>& queries,
               const std::function<void(const HeadRow& row)>& visit);

}  // namespace tra

#endif  // TRA_INSPECT_HEAD_ROWS_H_
