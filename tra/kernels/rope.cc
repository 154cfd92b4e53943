#include "tra/kernels/rope.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tra/kernels/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/rope.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

constexpr size_t kPositionsPerTask = 32;

// Rotates the pairs of one row; cosine and sine are [half].
HWY_INLINE void RotateRow(const float* HWY_RESTRICT x, const float* HWY_RESTRICT cosine, const float* HWY_RESTRICT sine,
                          size_t half, float* HWY_RESTRICT out) {
  ForEachVector(half, [&](size_t c, const auto& access) HWY_ATTR {
    const VF a = access.Load(x + c), b = access.Load(x + half + c);
    const VF cos = access.Load(cosine + c), sin = access.Load(sine + c);
    access.Store(hn::NegMulAdd(b, sin, hn::Mul(a, cos)), out + c);
    access.Store(hn::MulAdd(a, sin, hn::Mul(b, cos)), out + half + c);
  });
}

// Rotates every row. `table` is [position, 2, width / 2]: for each position its cosines, then its sines. It starts with
// first_position, or with 0 if every row has its own position.
void RunRotate(const RopeArgs<float>& args, const float* table, Parallel& parallel) {
  const RopeShape& shape = args.shape;
  const size_t half = shape.width / 2;
  const size_t blocks = DivideUp(shape.positions, kPositionsPerTask);
  // Rows are visited in the order of memory, in which either the heads of a position or the positions of a head are
  // adjacent.
  const bool token_first = args.x.head_stride < args.x.row_stride;
  parallel.Run(shape.batch * blocks, [&](size_t task, size_t /*worker*/) HWY_ATTR {
    const size_t batch = task / blocks;
    const size_t first = task % blocks * kPositionsPerTask;
    const size_t last = std::min(first + kPositionsPerTask, shape.positions);
    const auto rotate = [&](size_t head, size_t i) HWY_ATTR {
      const size_t entry = args.row_positions == nullptr ? i : static_cast<size_t>(args.row_positions[i]);
      const float* at = table + entry * shape.width;
      RotateRow(args.x(batch, head, i), at, at + half, half, args.out(batch, head, i));
    };
    if (token_first) {
      for (size_t i = first; i < last; ++i) {
        for (size_t head = 0; head < shape.heads; ++head) rotate(head, i);
      }
    } else {
      for (size_t head = 0; head < shape.heads; ++head) {
        for (size_t i = first; i < last; ++i) rotate(head, i);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
namespace {

HWY_EXPORT(RunRotate);

// Returns the number of positions that the table needs.
size_t TablePositions(const RopeArgs<float>& args) {
  if (args.row_positions == nullptr) return args.shape.positions;
  int64_t last = 0;
  for (size_t i = 0; i < args.shape.positions; ++i) {
    if (args.row_positions[i] < 0) {
      throw std::invalid_argument("rope: row " + std::to_string(i) + " has position " +
                                  std::to_string(args.row_positions[i]) + "; positions must not be negative");
    }
    last = std::max(last, args.row_positions[i]);
  }
  return static_cast<size_t>(last) + 1;
}

void FillTable(const RopeArgs<float>& args, size_t positions, float* table, Parallel& parallel) {
  const size_t width = args.shape.width, half = width / 2;
  std::vector<double> frequency(half);
  for (size_t c = 0; c < half; ++c) {
    frequency[c] = std::pow(args.theta, -2.0 * static_cast<double>(c) / static_cast<double>(width));
  }
  const double sign = args.backwards ? -1 : 1;
  const double first = args.row_positions == nullptr ? static_cast<double>(args.first_position) : 0.0;
  parallel.Run(positions, [&](size_t i, size_t /*worker*/) {
    const double position = first + static_cast<double>(i);
    float* at = table + i * width;
    for (size_t c = 0; c < half; ++c) {
      at[c] = static_cast<float>(std::cos(position * frequency[c]));
      at[half + c] = static_cast<float>(sign * std::sin(position * frequency[c]));
    }
  });
}

}  // namespace

void Rotate(const RopeArgs<float>& args, Parallel& parallel) {
  if (args.shape.width % 2 != 0) {
    throw std::invalid_argument("rope: channels turn in pairs, so the head width must be even; got " +
                                std::to_string(args.shape.width));
  }
  if (!(args.theta > 0)) throw std::invalid_argument("rope: theta must be positive, got " + std::to_string(args.theta));
  if (args.shape.batch * args.shape.heads * args.shape.positions * args.shape.width == 0) return;
  const size_t positions = TablePositions(args);
  const Floats table = AllocateFloats(positions * args.shape.width);
  FillTable(args, positions, table.get(), parallel);
  HWY_DYNAMIC_DISPATCH(RunRotate)(args, table.get(), parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
