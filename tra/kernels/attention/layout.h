// Defines how attention's operands lie in memory, on every SIMD target.
#ifndef TRA_KERNELS_ATTENTION_LAYOUT_H_
#define TRA_KERNELS_ATTENTION_LAYOUT_H_

#include <cstddef>

#include "tra/kernels/attention.h"
#include "tra/kernels/memory.h"

namespace tra {

// Keys are visited in blocks of this many: a multiple of 4 and 8 (rows of a product), 12 (rows of a sum) and 8 (keys
// per Philox call).
constexpr size_t kKeyBlock = 96;

struct Norm {
  bool on = false;
  float eps = 0.0f;
};

// Points to the rows of one head.
template <typename T>
struct HeadRows {
  T* data;
  ptrdiff_t stride;

  T* operator()(size_t row) const { return data + static_cast<ptrdiff_t>(row) * stride; }
};

template <typename T>
HeadRows<T> OfHead(const Rows<T>& rows, size_t batch, size_t head) {
  return {rows(batch, head, 0), rows.row_stride};
}

// Returns the number of floats from one packed row to the next: an odd number of cache lines, so that walking down a
// column uses every set of the first-level cache and not just one in four.
constexpr size_t PackedStride(size_t width) { return (DivideUp(width, 16) | 1) * 16; }

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_LAYOUT_H_
