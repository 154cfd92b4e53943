// Holds what decoding remembers of the positions so far.
#ifndef TRA_MODEL_CACHE_H_
#define TRA_MODEL_CACHE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tra {

// Holds the rows of one layer: keys, values, and whatever else its variant keeps, each in its own slot.
class LayerCache {
 public:
  explicit LayerCache(int64_t capacity) : capacity_(capacity) {}

  // Adds rows [B,H,new,c] to the slot; returns a view of all of them, [B,H,all,c].
  at::Tensor Append(size_t slot, const at::Tensor& rows);

  LayerCache Clone() const;

 private:
  struct Slot {
    at::Tensor rows;  // [B,H,capacity,c]
    int64_t length = 0;
  };
  int64_t capacity_;
  std::vector<Slot> slots_;
};

struct Cache {
  // Makes an empty cache for up to `capacity` positions.
  Cache(int64_t layers, int64_t capacity);
  // Not copyable, because a copy would share the rows that both go on to write.
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  Cache(Cache&&) = default;
  Cache& operator=(Cache&&) = default;
  ~Cache() = default;
  // Returns a copy that has its own rows, for several continuations of one prompt.
  Cache Clone() const;

  int64_t capacity;
  int64_t length = 0;  // positions so far
  at::Tensor labels;   // [B,capacity], for variants that draw labels
  std::vector<LayerCache> layers;
};

}  // namespace tra

#endif  // TRA_MODEL_CACHE_H_
