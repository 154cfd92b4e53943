#include "tra/kernels/swiglu.h"

#include <algorithm>

#include "tra/kernels/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/swiglu.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Returns 1 / (1 + exp(-g)), exactly 0 for g below -69.3; NaN stays NaN.
HWY_INLINE VF Sigmoid(VF g) {
  const DF df;
  const VF one = hn::Set(df, 1.0f);
  const VF z = hn::Mul(g, hn::Set(df, -0x1.715476p+0f));  // -log2(e)
  // Exp2 returns 0 where exp(-g) is negligible; where exp(-g) would overflow, the quotient is negligible.
  const MF vanishes = hn::Gt(z, hn::Set(df, -kZeroBelowLog2));
  return hn::IfThenZeroElse(vanishes, hn::Div(one, hn::Add(one, Exp2(z))));
}

// Calls body(row, factors) on every row, in tasks of about 64 KB of output: long enough to hide the cost of starting
// them, short enough to keep all workers busy. No result depends on how rows are split into tasks.
template <typename Body>
void ForEachRow(const SwiGluShape& shape, const DropoutOptions& options, Parallel& parallel, const Body& body) {
  const size_t rows_per_task = DivideUp(16384, std::max<size_t>(1, shape.width));
  parallel.Run(DivideUp(shape.rows, rows_per_task), [&](size_t task, size_t /*worker*/) HWY_ATTR {
    DropoutFactors dropout(options, shape.rows * shape.width);
    const size_t first = task * rows_per_task;
    for (size_t row = first; row < std::min(first + rows_per_task, shape.rows); ++row) body(row, dropout);
  });
}

void RunSwiGluForward(const SwiGluForwardArgs<float>& args, Parallel& parallel) {
  const size_t width = args.shape.width;
  ForEachRow(args.shape, args.dropout, parallel, [&](size_t row, DropoutFactors& dropout) HWY_ATTR {
    const float* HWY_RESTRICT up = args.x + 2 * row * width;
    const float* HWY_RESTRICT gate = up + width;
    float* HWY_RESTRICT out = args.out + row * width;
    dropout.ForEach(row * width, width, [&](size_t c, const auto& access, VF factor) HWY_ATTR {
      const VF g = access.Load(gate + c);
      access.Store(hn::Mul(hn::Mul(access.Load(up + c), factor), hn::Mul(g, Sigmoid(g))), out + c);
    });
  });
}

// The formulas are derived in swiglu_reference.cc.
void RunSwiGluBackward(const SwiGluBackwardArgs<float>& args, Parallel& parallel) {
  const size_t width = args.shape.width;
  ForEachRow(args.shape, args.dropout, parallel, [&](size_t row, DropoutFactors& dropout) HWY_ATTR {
    const VF one = hn::Set(DF(), 1.0f);
    const float* HWY_RESTRICT up = args.x + 2 * row * width;
    const float* HWY_RESTRICT gate = up + width;
    const float* HWY_RESTRICT d_out = args.d_out + row * width;
    float* HWY_RESTRICT d_up = args.d_x + 2 * row * width;
    float* HWY_RESTRICT d_gate = d_up + width;
    dropout.ForEach(row * width, width, [&](size_t c, const auto& access, VF factor) HWY_ATTR {
      const VF g = access.Load(gate + c);
      const VF s = Sigmoid(g);
      const VF d_s = hn::Mul(hn::Mul(access.Load(d_out + c), factor), s);
      access.Store(hn::Mul(d_s, g), d_up + c);
      const VF slope = hn::MulAdd(g, hn::Sub(one, s), one);
      access.Store(hn::Mul(hn::Mul(d_s, access.Load(up + c)), slope), d_gate + c);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(RunSwiGluForward);
HWY_EXPORT(RunSwiGluBackward);

void SwiGluForward(const SwiGluForwardArgs<float>& args, Parallel& parallel) {
  CheckDropout(args.dropout, args.shape.rows * args.shape.width);
  HWY_DYNAMIC_DISPATCH(RunSwiGluForward)(args, parallel);
}

void SwiGluBackward(const SwiGluBackwardArgs<float>& args, Parallel& parallel) {
  CheckDropout(args.dropout, args.shape.rows * args.shape.width);
  HWY_DYNAMIC_DISPATCH(RunSwiGluBackward)(args, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
