// Rounds sizes to whole blocks and allocates aligned memory.
#ifndef TRA_KERNELS_MEMORY_H_
#define TRA_KERNELS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <new>

#include "hwy/aligned_allocator.h"

namespace tra {

constexpr size_t RoundUp(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }
constexpr size_t DivideUp(size_t n, size_t by) { return (n + by - 1) / by; }

using Floats = hwy::AlignedFreeUniquePtr<float[]>;
inline Floats AllocateFloats(size_t n) {
  Floats floats = hwy::AllocateAligned<float>(n);
  if (floats == nullptr) throw std::bad_alloc();
  return floats;
}

using Bytes = hwy::AlignedFreeUniquePtr<uint8_t[]>;
inline Bytes AllocateBytes(size_t n) {
  Bytes bytes = hwy::AllocateAligned<uint8_t>(n);
  if (bytes == nullptr) throw std::bad_alloc();
  return bytes;
}

}  // namespace tra

#endif  // TRA_KERNELS_MEMORY_H_
