// What decoding remembers of the positions so far.
#ifndef TRA_MODEL_CACHE_H_
#define TRA_MODEL_CACHE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tra {

// Rows of one layer: keys, values, and whatever else its variant keeps, each in a slot of its own.
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
  // For up to `capacity` positions.
  Cache(int64_t layers, int64_t capacity);
  // A copy would share the rows it goes on to write.
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  Cache(Cache&&) = default;
  Cache& operator=(Cache&&) = default;
  ~Cache() = default;
  // With rows of its own: for several continuations of one beginning.
  Cache Clone() const;

  int64_t capacity;
  int64_t length = 0;  // positions so far
  at::Tensor labels;   // [B,capacity], where the variant draws them
  std::vector<LayerCache> layers;
};

}  // namespace tra

#endif  // TRA_MODEL_CACHE_H_
