// Plain types shared by the attention kernels of every SIMD target.
#ifndef TRA_KERNELS_LAYOUT_H_
#define TRA_KERNELS_LAYOUT_H_

#include <cstddef>
#include <new>

#include "hwy/aligned_allocator.h"
#include "tra/kernels/attention.h"

namespace tra {

// Keys are visited in blocks. A multiple of 4 and 8 (rows of a product), 6 (rows of OuterTile) and 8 (keys per Philox).
constexpr size_t kKeyBlock = 96;

struct Norm {
  bool on = false;
  float eps = 0.0f;
};

// The rows of one head.
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

constexpr size_t RoundUp(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }
constexpr size_t DivideUp(size_t n, size_t by) { return (n + by - 1) / by; }

// Floats from one packed row to the next: an odd number of cache lines, so that walking down a column visits every set
// of the first-level cache and not one in four.
constexpr size_t PackedStride(size_t width) { return (DivideUp(width, 16) | 1) * 16; }

using Floats = hwy::AlignedFreeUniquePtr<float[]>;
inline Floats AllocateFloats(size_t n) {
  Floats floats = hwy::AllocateAligned<float>(n);
  if (floats == nullptr) throw std::bad_alloc();
  return floats;
}

}  // namespace tra

#endif  // TRA_KERNELS_LAYOUT_H_
