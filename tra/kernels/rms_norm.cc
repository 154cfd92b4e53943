// Rows are independent except for the gradient of the gain, which is summed per chunk of rows and then over the chunks.
#include "tra/kernels/rms_norm.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tra/kernels/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/rms_norm.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// The rows of a task. Fixed, so that the order in which the gain's gradient is summed does not depend on the workers.
constexpr size_t kRowsPerChunk = 64;

HWY_INLINE void ForwardRow(const RmsNormForwardArgs<float>& args, size_t row) {
  const DF df;
  const size_t width = args.shape.width;
  const float* HWY_RESTRICT x = args.x + row * width;
  const float* HWY_RESTRICT gain = args.gain;
  float* HWY_RESTRICT out = args.out + row * width;
  float squares;
  if (args.y == nullptr) {
    squares = SumOverVectors(width, [&](size_t c, const auto& access) HWY_ATTR {
      const VF v = access.Load(x + c);
      return hn::Mul(v, v);
    });
  } else {
    const float* HWY_RESTRICT y = args.y + row * width;
    float* HWY_RESTRICT sum = args.sum + row * width;
    squares = SumOverVectors(width, [&](size_t c, const auto& access) HWY_ATTR {
      const VF v = hn::Add(access.Load(x + c), access.Load(y + c));
      access.Store(v, sum + c);
      return hn::Mul(v, v);
    });
    x = sum;
  }
  const float inv_rms = 1.0f / std::sqrt(squares / static_cast<float>(width) + args.eps);
  if (args.inv_rms != nullptr) args.inv_rms[row] = inv_rms;
  const VF scale = hn::Set(df, inv_rms);
  ForEachVector(width, [&](size_t c, const auto& access) HWY_ATTR {
    access.Store(hn::Mul(hn::Mul(access.Load(x + c), scale), access.Load(gain + c)), out + c);
  });
}

void RunRmsNormForward(const RmsNormForwardArgs<float>& args, Parallel& parallel) {
  const size_t rows = args.shape.rows;
  parallel.Run(DivideUp(rows, kRowsPerChunk), [&](size_t task, size_t /*worker*/) HWY_ATTR {
    const size_t first = task * kRowsPerChunk;
    for (size_t row = first; row < std::min(first + kRowsPerChunk, rows); ++row) ForwardRow(args, row);
  });
}

// Computes the row of d_x and adds the row's part to d_gain, [width]. The formulas are derived in
// rms_norm_reference.cc.
HWY_INLINE void BackwardRow(const RmsNormBackwardArgs<float>& args, size_t row, float* HWY_RESTRICT d_gain) {
  const DF df;
  const size_t width = args.shape.width;
  const float* HWY_RESTRICT sum = args.sum + row * width;
  const float* HWY_RESTRICT d_out = args.d_out + row * width;
  const float* HWY_RESTRICT d_sum = args.d_sum == nullptr ? nullptr : args.d_sum + row * width;
  const float* HWY_RESTRICT gain = args.gain;
  float* HWY_RESTRICT d_x = args.d_x + row * width;
  const float inv_rms = args.inv_rms[row];
  const VF scale = hn::Set(df, inv_rms);
  const float dot = SumOverVectors(width, [&](size_t c, const auto& access) HWY_ATTR {
    const VF n_d_out = hn::Mul(hn::Mul(access.Load(sum + c), scale), access.Load(d_out + c));
    access.Store(hn::Add(access.Load(d_gain + c), n_d_out), d_gain + c);
    return hn::Mul(n_d_out, access.Load(gain + c));
  });
  // d_x = inv_rms * d_n - inv_rms^2 * mean(n * d_n) * sum
  const VF along_sum = hn::Set(df, inv_rms * inv_rms * (dot / static_cast<float>(width)));
  ForEachVector(width, [&](size_t c, const auto& access) HWY_ATTR {
    const VF d_n = hn::Mul(access.Load(d_out + c), access.Load(gain + c));
    VF d = hn::NegMulAdd(along_sum, access.Load(sum + c), hn::Mul(scale, d_n));
    if (d_sum != nullptr) d = hn::Add(d, access.Load(d_sum + c));
    access.Store(d, d_x + c);
  });
}

void RunRmsNormBackward(const RmsNormBackwardArgs<float>& args, Parallel& parallel) {
  const size_t rows = args.shape.rows, width = args.shape.width;
  const size_t chunks = DivideUp(rows, kRowsPerChunk);
  const Floats partial = AllocateFloats(std::max<size_t>(1, chunks * width));  // [chunks, width]
  parallel.Run(chunks, [&](size_t task, size_t /*worker*/) HWY_ATTR {
    const size_t first = task * kRowsPerChunk;
    float* d_gain = partial.get() + task * width;
    std::fill_n(d_gain, width, 0.0f);
    for (size_t row = first; row < std::min(first + kRowsPerChunk, rows); ++row) BackwardRow(args, row, d_gain);
  });
  std::fill_n(args.d_gain, width, 0.0f);
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    ForEachVector(width, [&](size_t c, const auto& access) HWY_ATTR {
      const VF sum = hn::Add(access.Load(args.d_gain + c), access.Load(partial.get() + chunk * width + c));
      access.Store(sum, args.d_gain + c);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
namespace {

HWY_EXPORT(RunRmsNormForward);
HWY_EXPORT(RunRmsNormBackward);

void CheckWidth(const RmsNormShape& shape) {
  if (shape.width == 0)
    throw std::invalid_argument("rms_norm: rows of no channels have no mean; width must be 1 or more");
}

}  // namespace

void RmsNormForward(const RmsNormForwardArgs<float>& args, Parallel& parallel) {
  CheckWidth(args.shape);
  HWY_DYNAMIC_DISPATCH(RunRmsNormForward)(args, parallel);
}

void RmsNormBackward(const RmsNormBackwardArgs<float>& args, Parallel& parallel) {
  CheckWidth(args.shape);
  HWY_DYNAMIC_DISPATCH(RunRmsNormBackward)(args, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
