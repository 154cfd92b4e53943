#ifndef TRA_KERNELS_CHUNKS_H_
#define TRA_KERNELS_CHUNKS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tra {

// Names the elements [begin, end) of one of several arrays.
struct Chunk {
  size_t array, begin, end;
};

// Cuts arrays, each with its length `n`, into chunks, one per task. The cuts depend on the lengths alone, so that
// results do not depend on the number of workers, and chunks are short enough for four arrays of floats to stay in the
// second-level cache.
template <typename Array>
std::vector<Chunk> Chunks(const std::vector<Array>& arrays) {
  constexpr size_t kChunk = size_t{1} << 15;
  std::vector<Chunk> chunks;
  for (size_t array = 0; array < arrays.size(); ++array) {
    for (size_t begin = 0; begin < arrays[array].n; begin += kChunk) {
      chunks.push_back({array, begin, std::min(begin + kChunk, arrays[array].n)});
    }
  }
  return chunks;
}

}  // namespace tra

#endif  // TRA_KERNELS_CHUNKS_H_
