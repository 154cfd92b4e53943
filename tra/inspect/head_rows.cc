#include "tra/inspect/head_rows.h"

#include <ATen/ATen.h>

namespace tra {
namespace {

// Bounds how many neighbouring rows are computed at once. It is small, since the rows in between are computed too.
constexpr size_t kRows = 48;

}  // namespace

void VisitRows(const Inspection& inspection, const HeadId& head, const std::vector<size_t>& queries,
               const std::function<void(const HeadRow& row)>& visit) {
  for (size_t i = 0; i < queries.size();) {
    const size_t first = queries[i];
    size_t end = i + 1;
    while (end < queries.size() && queries[end] < first + kRows) ++end;
    const auto keys = static_cast<int64_t>(queries[end - 1]) + 1;
    const AttentionMatrix part = inspection.Matrix(head, {static_cast<int64_t>(first), keys, 0, keys});
    for (; i < end; ++i) {
      const auto row = static_cast<int64_t>(queries[i] - first);
      HeadRow shown;
      shown.query = queries[i];
      shown.state = part.state.data_ptr<uint8_t>() + row * keys;
      shown.position = part.position.data_ptr<float>() + row * keys;
      shown.weight = part.weight.data_ptr<float>() + row * keys;
      shown.stopped_at = static_cast<size_t>(part.stopped_at.data_ptr<int32_t>()[row]);
      visit(shown);
    }
  }
}

}  // namespace tra
