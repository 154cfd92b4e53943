// Defines the vector types of the kernels, and exp2.
#if defined(TRA_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_SIMD_INL_H_
#undef TRA_KERNELS_SIMD_INL_H_
#else
#define TRA_KERNELS_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using VU = hn::Vec<DU>;
using MF = hn::Mask<DF>;

constexpr size_t kLanes = hn::MaxLanes(DF());
// Each lane holds a query, and a tile is three vectors of queries. With four rows of the other matrix that makes 12
// accumulators; 3 + 1 more registers for the operands fill the 16 of AVX2.
constexpr size_t kVecs = 3;
constexpr size_t kTile = kVecs * kLanes;
// Targets with 32 registers have room for twice as many rows.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;
constexpr size_t kDotRows = kManyRegisters ? 8 : 4;

// Returns first, first + 1, ... Highway's Iota builds this in memory lane by lane unless `first` is a constant.
template <class D>
HWY_INLINE hn::Vec<D> CountFrom(D d, hn::TFromD<D> first) {
  return hn::Add(hn::Iota(d, 0), hn::Set(d, first));
}

// Returns 2^x for x in [-126, 127.5), with a relative error below 3e-7; NaN stays NaN. Uses a degree 5 minimax
// polynomial on [-1/2, 1/2]; Highway's own Exp spends twice the instructions on a wider range.
template <class D>
HWY_INLINE hn::Vec<D> Exp2InRange(D d, hn::Vec<D> x) {
  // Adding 1.5 * 2^23 rounds x to an integer held in the low bits; 127 more makes it a biased exponent.
  const auto magic = hn::Set(d, 12582912.0f + 127.0f);
  const auto shifted = hn::Add(x, magic);
  const auto f = hn::Sub(x, hn::Sub(shifted, magic));  // in [-1/2, 1/2]
  auto p = hn::Set(d, 0x1.5c08e6p-10f);
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.3d0c52p-7f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.c6b6e4p-5f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.ebf918p-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.62e428p-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToUnsigned<D>(), shifted))));
}

// Weights this much smaller than the largest are set to 0. The limit is far below what can change an fp32 sum with it,
// and far above the point where products with values would become denormal, which is slow on many machines.
constexpr float kZeroBelowLog2 = -100.0f;

// Returns the lanes that Exp2 sets to 0. They are selected, not clamped with Max, because what Max does with NaN
// differs between targets.
template <class D>
HWY_INLINE hn::Mask<D> Exp2IsZero(D d, hn::Vec<D> x) {
  return hn::Lt(x, hn::Set(d, kZeroBelowLog2));
}

// Returns 2^x for x < 127.5, exactly 0 below kZeroBelowLog2.
template <class D>
HWY_INLINE hn::Vec<D> Exp2(D d, hn::Vec<D> x) {
  return hn::IfThenZeroElse(Exp2IsZero(d, x), Exp2InRange(d, x));
}
HWY_INLINE VF Exp2(VF x) { return Exp2(DF(), x); }

// Returns Exp2(x), and 0 in the lanes of `drop` whatever their x.
HWY_INLINE VF Exp2Unless(MF drop, VF x) {
  return hn::IfThenZeroElse(hn::Or(drop, Exp2IsZero(DF(), x)), Exp2InRange(DF(), x));
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_SIMD_INL_H_
