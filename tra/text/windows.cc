#include "tra/text/windows.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tra/base/permutation.h"

namespace tra {
namespace {

void CheckStride(int64_t token_count, int64_t length, int64_t stride) {
  if (token_count < 2) {
    throw std::invalid_argument("evaluation windows: a text of " + std::to_string(token_count) +
                                " tokens has none to predict; use a longer text");
  }
  if (length < 1 || stride < 1 || stride > length) {
    throw std::invalid_argument("evaluation windows: a stride of " + std::to_string(stride) + " with windows of " +
                                std::to_string(length) + " tokens; use a stride from 1 to the length of a window");
  }
}

}  // namespace

int64_t TrainWindowsPerEpoch(int64_t token_count, int64_t length) {
  if (length < 1)
    throw std::invalid_argument("training windows: of " + std::to_string(length) + " tokens; use 1 or more");
  if (token_count <= length) {
    throw std::invalid_argument("training windows: " + std::to_string(length) + " tokens and their targets need " +
                                std::to_string(length + 1) + " tokens, and the text has " +
                                std::to_string(token_count) + "; use a longer text or shorter windows");
  }
  // One window fewer than fits, so that they fit from every possible start of the first.
  return std::max<int64_t>(1, token_count / length - 1);
}

int64_t TrainWindow(int64_t token_count, int64_t length, uint64_t seed, int64_t index) {
  const int64_t windows = TrainWindowsPerEpoch(token_count, length);
  if (index < 0) throw std::invalid_argument("training windows: index " + std::to_string(index) + "; count from 0");
  const auto epoch = static_cast<uint64_t>(index / windows);
  const int64_t starts = token_count - windows * length;
  const auto drawn =
      DrawWords(seed, Stream::kWindowPhase, {0, static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)});
  const auto start =
      static_cast<int64_t>((static_cast<uint64_t>(drawn[0]) << 32 | drawn[1]) % static_cast<uint64_t>(starts));
  const uint64_t place = Permute(static_cast<uint64_t>(index % windows), static_cast<uint64_t>(windows), seed, epoch,
                                 Stream::kWindowOrder);
  return start + static_cast<int64_t>(place) * length;
}

int64_t EvalWindowCount(int64_t token_count, int64_t length, int64_t stride) {
  CheckStride(token_count, length, stride);
  const int64_t beyond_first = std::max<int64_t>(0, token_count - 1 - length);
  return 1 + beyond_first / stride + (beyond_first % stride != 0 ? 1 : 0);
}

EvalWindow GetEvalWindow(int64_t token_count, int64_t length, int64_t stride, int64_t index) {
  const int64_t count = EvalWindowCount(token_count, length, stride);
  if (index < 0 || index >= count) {
    throw std::invalid_argument("evaluation windows: index " + std::to_string(index) + " of " + std::to_string(count));
  }
  const int64_t begin = index * stride;
  return {begin, std::min(length, token_count - 1 - begin), index == 0 ? 0 : length - stride};
}

}  // namespace tra
