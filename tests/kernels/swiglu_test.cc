// Tests SwiGLU, and the dropout that it shares with ApplyDropout.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/kernels/arrays.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/problem.h"
#include "tra/kernels/dropout_draws.h"
#include "tra/kernels/dropout_reference.h"
#include "tra/kernels/swiglu_reference.h"

namespace tra::testing {
namespace {

struct Outputs {
  Doubles out, d_x;
};

struct Glu {
  SwiGluShape shape;
  DropoutOptions dropout;
  Doubles x, d_out;

  Glu(size_t rows, size_t width, float p, size_t sequences = 1)
      : shape{rows, width},
        dropout{p, 42, sequences},
        x(Draw(rows * width * 2, 1, 3.0f)),
        d_out(Draw(rows * width, 2)) {}

  template <typename T, typename RunForward, typename RunBackward>
  Outputs Run(const RunForward& forward, const RunBackward& backward) const {
    const std::vector<T> x_in = As<T>(x), d_out_in = As<T>(d_out);
    std::vector<T> out = Poison<T>(d_out.size()), d_x = Poison<T>(x.size());
    forward(SwiGluForwardArgs<T>{shape, x_in.data(), dropout, out.data()});
    backward(SwiGluBackwardArgs<T>{shape, x_in.data(), dropout, d_out_in.data(), d_x.data()});
    return {Widen(out), Widen(d_x)};
  }
  Outputs Kernel(size_t workers = 1) const {
    ThreadPool pool(workers);
    return Run<float>([&](const auto& args) { SwiGluForward(args, pool); },
                      [&](const auto& args) { SwiGluBackward(args, pool); });
  }
  Outputs Reference() const { return Run<double>(SwiGluForwardReference, SwiGluBackwardReference); }
};

Doubles Drop(const Doubles& x, const DropoutOptions& options, size_t workers = 1) {
  ThreadPool pool(workers);
  const std::vector<float> in = As<float>(x);
  std::vector<float> out = Poison<float>(x.size());
  ApplyDropout(in.data(), in.size(), options, out.data(), pool);
  return Widen(out);
}

class SwiGluOnEveryTarget : public EveryTarget {};

TEST_P(SwiGluOnEveryTarget, MatchesReference) {
  for (const float p : {0.0f, 0.3f}) {
    for (const size_t rows : {0, 1, 3, 1000}) {
      for (const size_t width : {1, 2, 7, 59, 64, 256, 513}) {
        if (p > 0 && rows * width > 100000) continue;  // the reference draws for each element alone, which takes long
        SCOPED_TRACE(::testing::Message() << rows << " rows of " << width << ", p " << p);
        const Glu glu(rows, width, p);
        const Outputs got = glu.Kernel(), want = glu.Reference();
        // Allows a few roundings and the 3e-7 of exp2, relative to the largest.
        EXPECT_LT(MaxError(got.out, want.out), 5e-7 * (1 + MaxAbs(want.out)));
        EXPECT_LT(MaxError(got.d_x, want.d_x), 5e-7 * (1 + MaxAbs(want.d_x)));
      }
    }
  }
}

// Gates run from where exp overflows to where it vanishes, with up = 1.
TEST_P(SwiGluOnEveryTarget, SiluHoldsOverTheWholeRange) {
  constexpr size_t kSteps = 8001;
  Glu glu(1, kSteps, 0.0f);
  std::fill_n(glu.x.begin(), kSteps, 1.0);
  for (size_t c = 0; c < kSteps; ++c) glu.x[kSteps + c] = -200.0 + 0.05f * static_cast<float>(c);  // up to 200
  for (double& gate : glu.x) gate = static_cast<float>(gate);
  const Outputs got = glu.Kernel(), want = glu.Reference();
  for (size_t c = 0; c < kSteps; ++c) {
    EXPECT_NEAR(got.out[c], want.out[c], 1e-6 * std::max(1e-3, std::abs(want.out[c]))) << glu.x[kSteps + c];
    EXPECT_NEAR(got.d_x[kSteps + c], want.d_x[kSteps + c], 2e-6 * std::abs(glu.d_out[c])) << glu.x[kSteps + c];
  }
  EXPECT_EQ(got.out.front(), 0.0);
  EXPECT_EQ(got.out.back(), 200.0);
}

TEST_P(SwiGluOnEveryTarget, NaNAndInfinityReachTheirOutputsAlone) {
  for (const size_t width : {7, 64}) {
    const Outputs clean = Glu(1, width, 0.0f).Kernel();
    const auto spoil = [&](size_t at, double value) {
      Glu glu(1, width, 0.0f);
      glu.x[at] = value;
      glu.x[at < width ? width + at : at - width] = 1.0;
      Outputs got = glu.Kernel();
      for (size_t c = 0; c < width; ++c) {
        if (c == at % width) continue;
        EXPECT_EQ(got.out[c], clean.out[c]);
        EXPECT_EQ(got.d_x[c], clean.d_x[c]);
        EXPECT_EQ(got.d_x[width + c], clean.d_x[width + c]);
      }
      return got;
    };
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = HUGE_VAL;
    EXPECT_TRUE(std::isnan(spoil(4, kNaN).out[4]));
    EXPECT_TRUE(std::isnan(spoil(4, kNaN).d_x[width + 4]));
    EXPECT_TRUE(std::isnan(spoil(width + 4, kNaN).out[4]));
    EXPECT_TRUE(std::isnan(spoil(width + 4, kNaN).d_x[4]));
    EXPECT_TRUE(std::isnan(spoil(width + 4, kNaN).d_x[width + 4]));
    EXPECT_EQ(spoil(4, -kInf).out[4], -kInf);
    EXPECT_EQ(spoil(width + 4, kInf).out[4], kInf);
    EXPECT_TRUE(std::isnan(spoil(width + 4, -kInf).out[4]));  // -inf * 0, as in plain arithmetic
  }
}

// With up = 1 and a gate of 30, whose silu is 30 to the last bit, only dropped elements are zero.
TEST_P(SwiGluOnEveryTarget, BackwardDropsWhatForwardDropped) {
  for (const size_t width : {59, 128}) {
    Glu glu(20, width, 0.3f);
    for (size_t i = 0; i < glu.x.size(); ++i) glu.x[i] = i / width % 2 == 0 ? 1.0 : 30.0;
    glu.d_out.assign(glu.d_out.size(), 1.0);
    const Outputs got = glu.Kernel();
    for (size_t element = 0; element < got.out.size(); ++element) {
      const size_t row = element / width, c = element % width;
      const bool dropped = ElementDropped(SequenceSeed(42, nullptr, 0), glu.dropout.p, element);
      EXPECT_EQ(got.out[element] == 0, dropped) << element;
      EXPECT_EQ(got.d_x[2 * row * width + c] == 0, dropped) << element;
      EXPECT_EQ(got.d_x[(2 * row + 1) * width + c] == 0, dropped) << element;
    }
  }
}

TEST_P(SwiGluOnEveryTarget, ApplyDropoutMatchesReference) {
  for (const size_t n : {0, 1, 2, 7, 59, 64, 256, 513, 40000}) {
    const Doubles x = Draw(n, 1);
    for (const float p : {0.0f, 1e-9f, 0.1f, 0.5f}) {
      const DropoutOptions options{p, uint64_t{7} << 33 | 5};
      Doubles want(n);
      ApplyDropoutReference(x.data(), n, options, want.data());
      // Allows two roundings of numbers up to 10.
      EXPECT_LT(MaxError(Drop(x, options), want), 2e-6) << n << " elements, p " << p;
    }
  }
}

// Sequences end within blocks of draws, within vectors and within tasks.
TEST_P(SwiGluOnEveryTarget, SequencesMatchReference) {
  const std::vector<int64_t> sequence_ids = {7, 0, int64_t{1} << 40, 3, 3};
  for (const size_t size : {1, 15, 59, 128, 700, 20000}) {
    SCOPED_TRACE(::testing::Message() << "5 sequences of " << size);
    const DropoutOptions options{0.3f, 11, sequence_ids.size(), sequence_ids.data()};
    const Doubles x = Draw(sequence_ids.size() * size, 1);
    Doubles want(x.size());
    ApplyDropoutReference(x.data(), x.size(), options, want.data());
    EXPECT_LT(MaxError(Drop(x, options), want), 2e-6);

    Glu glu(sequence_ids.size() * size, 3, 0.3f, sequence_ids.size());
    glu.dropout.sequence_ids = sequence_ids.data();
    const Outputs got = glu.Kernel(), reference = glu.Reference();
    EXPECT_LT(MaxError(got.out, reference.out), 5e-7 * (1 + MaxAbs(reference.out)));
    EXPECT_LT(MaxError(got.d_x, reference.d_x), 5e-7 * (1 + MaxAbs(reference.d_x)));
  }
}

// Sequences of any number of tokens, some empty, one after the other.
TEST_P(SwiGluOnEveryTarget, FlatSequencesMatchReferenceAndThemselvesAlone) {
  const std::vector<int64_t> sequence_ids = {7, 0, int64_t{1} << 40, 3, 5};
  const std::vector<int32_t> offsets = {0, 0, 1, 700, 700, 741};
  const size_t sequences = sequence_ids.size(), tokens = 741;
  for (const size_t width : {1, 3, 59, 128}) {
    SCOPED_TRACE(::testing::Message() << "tokens of " << width);
    DropoutOptions options{0.3f, 11, sequences, sequence_ids.data(), offsets.data()};
    const Doubles x = Draw(tokens * width, 1);
    Doubles want(x.size());
    ApplyDropoutReference(x.data(), x.size(), options, want.data());
    const Doubles got = Drop(x, options);
    EXPECT_LT(MaxError(got, want), 2e-6);
    for (size_t i = 0; i < sequences; ++i) {
      const auto at = [&](size_t token) { return static_cast<ptrdiff_t>(token * width); };
      const auto begin = static_cast<size_t>(offsets[i]), end = static_cast<size_t>(offsets[i + 1]);
      const Doubles alone = Drop(Doubles(x.begin() + at(begin), x.begin() + at(end)), {0.3f, 11, 1, &sequence_ids[i]});
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), got.begin() + at(begin))) << i;
    }

    Glu glu(tokens, width, 0.3f, sequences);
    glu.dropout.sequence_ids = sequence_ids.data();
    glu.dropout.offsets = offsets.data();
    const Outputs glued = glu.Kernel(), reference = glu.Reference();
    EXPECT_LT(MaxError(glued.out, reference.out), 5e-7 * (1 + MaxAbs(reference.out)));
    EXPECT_LT(MaxError(glued.d_x, reference.d_x), 5e-7 * (1 + MaxAbs(reference.d_x)));
  }
}

TRA_ON_EVERY_TARGET(SwiGluOnEveryTarget);

// Which elements of a sequence are dropped does not depend on what it is batched with.
TEST(ElementDropout, FollowsTheNumberOfTheSequence) {
  const std::vector<int64_t> sequence_ids = {7, 2, 9};
  constexpr size_t kSize = 300;
  const Doubles all = Drop(Doubles(3 * kSize, 1.0), {0.5f, 11, 3, sequence_ids.data()});
  for (size_t row = 0; row < 3; ++row) {
    const Doubles one = Drop(Doubles(kSize, 1.0), {0.5f, 11, 1, &sequence_ids[row]});
    EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + static_cast<ptrdiff_t>(row * kSize))) << row;
  }
  EXPECT_FALSE(std::equal(all.begin(), all.begin() + kSize, all.begin() + kSize));
  const Doubles counted = Drop(Doubles(3 * kSize, 1.0), {0.5f, 11, 3});
  EXPECT_TRUE(std::equal(counted.begin() + 2 * kSize, counted.end(), all.begin() + kSize));
}

TEST(ElementDropout, RefusesPartsOfSequences) {
  Serial serial;
  EXPECT_THROW(ApplyDropout(nullptr, 10, {0.5f, 0, 3}, nullptr, serial), std::invalid_argument);
  EXPECT_THROW(ApplyDropout(nullptr, 0, {0.5f, 0, 0}, nullptr, serial), std::invalid_argument);
  ApplyDropout(nullptr, 0, {0.5f, 0, 3}, nullptr, serial);  // three empty sequences are fine
  const int32_t offsets[] = {0, 4, 7};
  EXPECT_THROW(ApplyDropout(nullptr, 10, {0.5f, 0, 2, nullptr, offsets}, nullptr, serial), std::invalid_argument);
}

TEST(SwiGlu, WorkersDoNotChangeABit) {
  const Glu glu(1000, 59, 0.3f);
  const Outputs one = glu.Kernel(1);
  for (const size_t workers : {2, 5}) {
    const Outputs many = glu.Kernel(workers);
    EXPECT_TRUE(BitEqual(one.out, many.out));
    EXPECT_TRUE(BitEqual(one.d_x, many.d_x));
  }
}

TEST(SwiGlu, RefusesDropoutOfEverything) {
  Serial serial;
  SwiGluForwardArgs<float> forward;
  SwiGluBackwardArgs<float> backward;
  for (const float p : {-0.1f, 1.0f, std::nanf("")}) {
    forward.dropout.p = backward.dropout.p = p;
    EXPECT_THROW(SwiGluForward(forward, serial), std::invalid_argument);
    EXPECT_THROW(SwiGluBackward(backward, serial), std::invalid_argument);
    EXPECT_THROW(ApplyDropout(nullptr, 0, {p, 0}, nullptr, serial), std::invalid_argument);
  }
}

TEST(SwiGluReference, GradientsMatchFiniteDifferences) {
  const Glu glu(3, 7, 0.3f);
  const Doubles numeric = FiniteDifferences(glu.x, [&](const Doubles& x) {
    Glu moved = glu;
    moved.x = x;
    return Dot(moved.Reference().out, glu.d_out);
  });
  EXPECT_LT(MaxError(numeric, glu.Reference().d_x), 1e-7);
}

TEST(ElementDropout, WorkersDoNotChangeABit) {
  const Doubles x = Draw(100003, 1);
  const DropoutOptions options{0.2f, 9};
  const Doubles one = Drop(x, options, 1);
  for (const size_t workers : {2, 5}) EXPECT_TRUE(BitEqual(one, Drop(x, options, workers)));
}

TEST(ElementDropout, RateIsWithinFourSigmaOverallAndInEveryDraw) {
  constexpr size_t kElements = 1 << 17;
  for (const float p : {0.01f, 0.3f}) {
    const Doubles out = Drop(Doubles(kElements, 1.0), {p, 42});
    std::vector<double> dropped(8);
    for (size_t i = 0; i < kElements; ++i) dropped[i % kDropoutBlock / kDropoutLanes] += out[i] == 0;
    double all = 0;
    for (const double each : dropped) {
      all += each;
      const double n = kElements / 8.0;
      EXPECT_NEAR(each, n * p, 4 * std::sqrt(n * p * (1 - p))) << p;
    }
    EXPECT_NEAR(all, kElements * p, 4 * std::sqrt(kElements * p * (1 - p))) << p;
  }
}

TEST(ElementDropout, KeepsTheExpectation) {
  for (const double each : Drop(Doubles(1000, 1.0), {0.2f, 1})) EXPECT_TRUE(each == 0 || each == 1.25f) << each;
}

TEST(ElementDropout, SwallowsNoNaN) {
  for (const double each : Drop(Doubles(1000, std::nan("")), {0.5f, 1})) EXPECT_TRUE(std::isnan(each));
}

TEST(ElementDropout, DiffersBetweenSeedsAndFromAttention) {
  size_t equal_seeds = 0, equal_high_seeds = 0, equal_attention = 0;
  constexpr size_t kElements = 4096;
  for (size_t i = 0; i < kElements; ++i) {
    const uint32_t bits = ElementDropoutBits(1, i);
    equal_seeds += bits == ElementDropoutBits(2, i);
    equal_high_seeds += bits == ElementDropoutBits(uint64_t{1} << 32 | 1, i);
    equal_attention += bits == DropoutBits(1, 0, i / 8, i % 8);
  }
  // Independent draws of 16 bits agree once in 65536.
  EXPECT_LT(equal_seeds, 5u);
  EXPECT_LT(equal_high_seeds, 5u);
  EXPECT_LT(equal_attention, 5u);
}

// Element indices past 2^32 Philox calls must not wrap around.
TEST(ElementDropout, DoesNotRepeatAfterTheCounterOverflows) {
  const uint64_t wrap = uint64_t{kDropoutBlock} << 28;  // 2^32 calls
  size_t equal = 0;
  for (uint64_t i = 0; i < 1024; ++i) equal += ElementDropoutBits(1, i) == ElementDropoutBits(1, wrap + i);
  EXPECT_LT(equal, 5u);
}

}  // namespace
}  // namespace tra::testing
