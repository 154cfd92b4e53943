#include "tra/model/cache.h"

#include <ATen/ATen.h>

namespace tra {

at::Tensor LayerCache::Append(size_t slot, const at::Tensor& rows) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& to = slots_[slot];
  if (to.rows.defined()) {
    TORCH_CHECK_VALUE(
        rows.size(0) == to.rows.size(0) && rows.size(1) == to.rows.size(1) && rows.size(3) == to.rows.size(3),
        "cache: it was begun with [batch, head, channel] of ", to.rows.size(0), ", ", to.rows.size(1), ", ",
        to.rows.size(3), " and is now given ", rows.size(0), ", ", rows.size(1), ", ", rows.size(3),
        "; use one cache for one batch of one model");
  }
  const int64_t length = to.length + rows.size(2);
  TORCH_CHECK_VALUE(length <= capacity_, "cache: it holds ", capacity_, " positions, ", length,
                    " needed; make it larger");
  if (!to.rows.defined()) to.rows = at::empty({rows.size(0), rows.size(1), capacity_, rows.size(3)}, rows.options());
  to.rows.narrow(2, to.length, rows.size(2)).copy_(rows);
  to.length = length;
  return to.rows.narrow(2, 0, length);
}

LayerCache LayerCache::Clone() const {
  LayerCache clone(capacity_);
  for (const Slot& slot : slots_) {
    clone.slots_.push_back({slot.rows.defined() ? slot.rows.clone() : at::Tensor(), slot.length});
  }
  return clone;
}

Cache Cache::Clone() const {
  Cache clone(0, capacity);
  clone.length = length;
  clone.labels = labels;  // shared, since they are never written again
  for (const LayerCache& layer : layers) clone.layers.push_back(layer.Clone());
  return clone;
}

Cache::Cache(int64_t layer_count, int64_t capacity)
    : capacity(capacity), layers(static_cast<size_t>(layer_count), LayerCache(capacity)) {}

}  // namespace tra
