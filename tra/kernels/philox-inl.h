// Computes Philox4x32-10 for a vector of counters; see tra/base/philox.h.
#include "tra/kernels/dropout_draws.h"

#if defined(TRA_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRA_KERNELS_PHILOX_INL_H_
#undef TRA_KERNELS_PHILOX_INL_H_
#else
#define TRA_KERNELS_PHILOX_INL_H_
#endif

#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Applies Philox to kVectors vectors of counters, in place: words[w] holds word w of each. Several vectors at once hide
// the latency of the multiplications, because each round waits for the one before.
#if HWY_TARGET == HWY_SCALAR
template <size_t kVectors>
HWY_INLINE void PhiloxRounds(uint64_t seed, VU (&words)[4][kVectors]) {
  for (size_t v = 0; v < kVectors; ++v) {
    const std::array<uint32_t, 4> counter = {hn::GetLane(words[0][v]), hn::GetLane(words[1][v]),
                                             hn::GetLane(words[2][v]), hn::GetLane(words[3][v])};
    const std::array<uint32_t, 4> drawn =
        Philox(counter, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    for (size_t w = 0; w < 4; ++w) words[w][v] = hn::Set(DU(), drawn[w]);
  }
}
#else
template <size_t kVectors>
HWY_INLINE void PhiloxRounds(uint64_t seed, VU (&words)[4][kVectors]) {
  const DU du;
  // Products have 64 bits, so even and odd lanes go through the rounds apart, each in the even lanes of a vector. What
  // stands in the odd lanes does not matter: MulEven does not read it.
  constexpr size_t kHalves = 2 * kVectors;
  VU state[4][kHalves];
  for (size_t w = 0; w < 4; ++w) {
    for (size_t v = 0; v < kVectors; ++v) {
      state[w][2 * v] = words[w][v];
      state[w][2 * v + 1] = hn::DupOdd(words[w][v]);
    }
  }
  const VU mul0 = hn::Set(du, kPhiloxMul0);
  const VU mul1 = hn::Set(du, kPhiloxMul1);
  auto key0 = static_cast<uint32_t>(seed);
  auto key1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (size_t h = 0; h < kHalves; ++h) {
      const VU product0 = hn::BitCast(du, hn::MulEven(mul0, state[0][h]));
      const VU product1 = hn::BitCast(du, hn::MulEven(mul1, state[2][h]));
      // The high half of a product comes by DupOdd and not by a shift, which would compete with the multiplications.
      state[0][h] = hn::Xor(hn::DupOdd(product1), hn::Xor(state[1][h], hn::Set(du, key0)));
      state[1][h] = product1;
      state[2][h] = hn::Xor(hn::DupOdd(product0), hn::Xor(state[3][h], hn::Set(du, key1)));
      state[3][h] = product0;
    }
    key0 += kPhiloxBump0;
    key1 += kPhiloxBump1;
  }
  for (size_t w = 0; w < 4; ++w) {
    for (size_t v = 0; v < kVectors; ++v) {
      words[w][v] = hn::OddEven(hn::DupEven(state[w][2 * v + 1]), state[w][2 * v]);
    }
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_PHILOX_INL_H_
