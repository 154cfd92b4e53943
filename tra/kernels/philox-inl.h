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

// Computes the high and low halves of a * b in every lane.
HWY_INLINE void WideMul(VU a, VU b, VU& high, VU& low) {
#if HWY_TARGET == HWY_SCALAR
  const uint64_t product = uint64_t{hn::GetLane(a)} * hn::GetLane(b);
  high = hn::Set(DU(), static_cast<uint32_t>(product >> 32));
  low = hn::Set(DU(), static_cast<uint32_t>(product));
#else
  const hn::Repartition<uint64_t, DU> d64;
  const auto odd = [&](VU v) HWY_ATTR { return hn::BitCast(DU(), hn::ShiftRight<32>(hn::BitCast(d64, v))); };
  const auto even_product = hn::MulEven(a, b);
  const auto odd_product = hn::MulEven(odd(a), odd(b));
  low = hn::OddEven(hn::BitCast(DU(), hn::ShiftLeft<32>(odd_product)), hn::BitCast(DU(), even_product));
  high = hn::OddEven(hn::BitCast(DU(), odd_product), hn::BitCast(DU(), hn::ShiftRight<32>(even_product)));
#endif
}

// Applies Philox to kVectors vectors of counters, in place: words[w] holds word w of each. Several vectors at once hide
// the latency of the multiplications, because each round waits for the one before.
template <size_t kVectors>
HWY_INLINE void PhiloxRounds(uint64_t seed, VU (&words)[4][kVectors]) {
  const DU du;
  const VU mul0 = hn::Set(du, kPhiloxMul0);
  const VU mul1 = hn::Set(du, kPhiloxMul1);
  auto key0 = static_cast<uint32_t>(seed);
  auto key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (size_t v = 0; v < kVectors; ++v) {
      VU high0, low0, high1, low1;
      WideMul(mul0, words[0][v], high0, low0);
      WideMul(mul1, words[2][v], high1, low1);
      words[0][v] = hn::Xor(high1, hn::Xor(words[1][v], hn::Set(du, key0)));
      words[1][v] = low1;
      words[2][v] = hn::Xor(high0, hn::Xor(words[3][v], hn::Set(du, key1)));
      words[3][v] = low0;
    }
    key0 += kPhiloxBump0;
    key1 += kPhiloxBump1;
  }
}

// Sets bits[r * kTile + lane] = DropoutBits(seed, head, position + lane, first_key + r) for r in [0, rows). first_key
// must be a multiple of kKeysPerPhilox; rows is rounded up to one.
inline HWY_NOINLINE void DropoutBitsTile(uint64_t seed, size_t head, size_t position, size_t first_key, size_t rows,
                                         uint32_t* HWY_RESTRICT bits) {
  const DU du;
  for (size_t v = 0; v < kVecs; ++v) {
    const VU positions = hn::Iota(du, static_cast<uint32_t>(position + v * kLanes));
    for (size_t r = 0; r < rows; r += kKeysPerPhilox) {
      VU words[4][1] = {{positions},
                        {hn::Set(du, static_cast<uint32_t>((first_key + r) / kKeysPerPhilox))},
                        {hn::Set(du, static_cast<uint32_t>(head))},
                        {hn::Set(du, FirstOf(Stream::kAttentionDropout))}};
      PhiloxRounds(seed, words);
      const VU half = hn::Set(du, 0xFFFFu);
      for (size_t w = 0; w < 4; ++w) {
        uint32_t* HWY_RESTRICT to = bits + (r + 2 * w) * kTile + v * kLanes;
        hn::Store(hn::And(words[w][0], half), du, to);
        hn::Store(hn::ShiftRight<16>(words[w][0]), du, to + kTile);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#endif  // TRA_KERNELS_PHILOX_INL_H_
