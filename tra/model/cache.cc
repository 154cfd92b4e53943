#include "tra/model/cache.h"

#include <ATen/ATen.h>

namespace tra {

at::Tensor LayerCache::Append(size_t slot, const at::Tensor& rows) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& to = slots_[slot];
  if (!to.rows.defined()) to.rows = at::empty({rows.size(0), rows.size(1), capacity_, rows.size(3)}, rows.options());
  TORCH_CHECK(rows.size(0) == to.rows.size(0), "cache: it was begun with ", to.rows.size(0),
              " sequences and is now given ", rows.size(0), "; use one cache for one batch");
  const int64_t length = to.length + rows.size(2);
  TORCH_CHECK(length <= capacity_, "cache: it holds ", capacity_, " positions, ", length, " needed; make it larger");
  to.rows.narrow(2, to.length, rows.size(2)).copy_(rows);
  to.length = length;
  return to.rows.narrow(2, 0, length);
}

Cache::Cache(int64_t layer_count, int64_t capacity)
    : capacity(capacity), layers(static_cast<size_t>(layer_count), LayerCache(capacity)) {}

}  // namespace tra
