// Walks along a row of any width, one vector at a time.
#if defined(TRA_KERNELS_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_ROW_INL_H_
#undef TRA_KERNELS_ROW_INL_H_
#else
#define TRA_KERNELS_ROW_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Reads and writes a whole vector.
struct WholeVector {
  HWY_INLINE VF Load(const float* from) const { return hn::LoadU(DF(), from); }
  HWY_INLINE void Store(VF v, float* to) const { hn::StoreU(v, DF(), to); }
};

// Reads and writes the n lanes that are left at the end of a row; the other lanes are read as 0. Goes through a buffer,
// because masked loads of some targets read past the end.
struct PartVector {
  size_t n;

  HWY_INLINE VF Load(const float* from) const {
    HWY_ALIGN float lanes[kLanes] = {};
    std::memcpy(lanes, from, n * sizeof(float));
    return hn::Load(DF(), lanes);
  }
  HWY_INLINE void Store(VF v, float* to) const {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(v, DF(), lanes);
    std::memcpy(to, lanes, n * sizeof(float));
  }
};

// Calls body(c, access) for c = 0, kLanes, 2 kLanes, ... below width.
template <typename Body>
HWY_INLINE void ForEachVector(size_t width, const Body& body) {
  size_t c = 0;
  for (; c + kLanes <= width; c += kLanes) body(c, WholeVector());
  if (c < width) body(c, PartVector{width - c});
}

// Returns the sum of all lanes of all body(c, access). Keeps four sums, because shorter chains of additions take less
// time and lose less to rounding.
template <typename Body>
HWY_INLINE float SumOverVectors(size_t width, const Body& body) {
  const DF df;
  VF sum0 = hn::Zero(df), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  size_t c = 0;
  for (; c + 4 * kLanes <= width; c += 4 * kLanes) {
    sum0 = hn::Add(sum0, body(c, WholeVector()));
    sum1 = hn::Add(sum1, body(c + kLanes, WholeVector()));
    sum2 = hn::Add(sum2, body(c + 2 * kLanes, WholeVector()));
    sum3 = hn::Add(sum3, body(c + 3 * kLanes, WholeVector()));
  }
  for (; c + kLanes <= width; c += kLanes) sum0 = hn::Add(sum0, body(c, WholeVector()));
  if (c < width) sum1 = hn::Add(sum1, body(c, PartVector{width - c}));
  return hn::GetLane(hn::SumOfLanes(df, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_ROW_INL_H_
