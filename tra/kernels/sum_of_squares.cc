// Uses plain loops: memory is the bottleneck, and any compiler vectorises sums that are separate in the source.
#include "tra/kernels/sum_of_squares.h"

#include "tra/kernels/chunks.h"

namespace tra {
namespace {

double SumChunk(const float* x, size_t n) {
  constexpr size_t kSums = 16;
  double sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (size_t j = 0; j < kSums; ++j) sums[j] += static_cast<double>(x[i + j]) * static_cast<double>(x[i + j]);
  }
  double total = 0;
  for (; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

double SumOfSquares(const std::vector<ConstArray>& arrays, Parallel& parallel) {
  const std::vector<Chunk> chunks = Chunks(arrays);
  std::vector<double> sums(chunks.size());
  parallel.Run(chunks.size(), [&](size_t task, size_t /*worker*/) {
    const Chunk& chunk = chunks[task];
    sums[task] = SumChunk(arrays[chunk.array].data + chunk.begin, chunk.end - chunk.begin);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace tra
