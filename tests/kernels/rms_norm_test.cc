#include <cmath>
#include <stdexcept>

#include "tests/kernels/arrays.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/problem.h"
#include "tra/kernels/rms_norm_reference.h"

namespace tra::testing {
namespace {

struct Outputs {
  Doubles sum, out, inv_rms, d_x, d_gain;
};

struct Norm {
  RmsNormShape shape;
  bool added;  // with y and d_sum, or without both
  Doubles x, y, gain, d_out, d_sum;

  Norm(size_t rows, size_t width, bool added)
      : shape{rows, width},
        added(added),
        x(Draw(rows * width, 1)),
        y(Draw(rows * width, 2)),
        gain(Draw(width, 3)),
        d_out(Draw(rows * width, 4)),
        d_sum(Draw(rows * width, 5)) {}

  template <typename T, typename RunForward, typename RunBackward>
  Outputs Run(const RunForward& forward, const RunBackward& backward) const {
    const std::vector<T> x_in = As<T>(x), y_in = As<T>(y), gain_in = As<T>(gain), d_out_in = As<T>(d_out),
                         d_sum_in = As<T>(d_sum);
    std::vector<T> sum = added ? Poison<T>(x.size()) : x_in, out = Poison<T>(x.size()), inv_rms = Poison<T>(shape.rows),
                   d_x = Poison<T>(x.size()), d_gain = Poison<T>(shape.width);
    RmsNormForwardArgs<T> f;
    f.shape = shape;
    f.x = x_in.data();
    f.y = added ? y_in.data() : nullptr;
    f.gain = gain_in.data();
    f.sum = added ? sum.data() : nullptr;
    f.out = out.data();
    f.inv_rms = inv_rms.data();
    forward(f);
    RmsNormBackwardArgs<T> b;
    b.shape = shape;
    b.sum = sum.data();
    b.gain = gain_in.data();
    b.inv_rms = inv_rms.data();
    b.d_out = d_out_in.data();
    b.d_sum = added ? d_sum_in.data() : nullptr;
    b.d_x = d_x.data();
    b.d_gain = d_gain.data();
    backward(b);
    return {Widen(sum), Widen(out), Widen(inv_rms), Widen(d_x), Widen(d_gain)};
  }
  Outputs Kernel(size_t workers = 1) const {
    ThreadPool pool(workers);
    return Run<float>([&](const auto& args) { RmsNormForward(args, pool); },
                      [&](const auto& args) { RmsNormBackward(args, pool); });
  }
  Outputs Reference() const { return Run<double>(RmsNormForwardReference, RmsNormBackwardReference); }
};

class RmsNormOnEveryTarget : public EveryTarget {};

TEST_P(RmsNormOnEveryTarget, MatchesReference) {
  for (const bool added : {false, true}) {
    for (const size_t rows : {0, 1, 3, 1000}) {
      for (const size_t width : {1, 2, 7, 59, 64, 256, 513}) {
        SCOPED_TRACE(::testing::Message() << rows << " rows of " << width << (added ? ", added" : ""));
        const Norm norm(rows, width, added);
        const Outputs got = norm.Kernel(), want = norm.Reference();
        // Allows a few roundings of numbers up to 10, half a unit in the last place each.
        EXPECT_LT(MaxError(got.sum, want.sum), 1e-6);
        EXPECT_LT(MaxError(got.out, want.out), 5e-6);
        // Terms of this size cancel; in rows of one channel, whose mean square can be tiny, almost entirely.
        const double terms = MaxAbs(want.inv_rms) * MaxAbs(norm.d_out) * MaxAbs(norm.gain);
        EXPECT_LT(MaxError(got.d_x, want.d_x), 5e-7 * (1 + terms));
        EXPECT_LT(MaxError(got.d_gain, want.d_gain), 1e-6 * std::max(1.0, MaxAbs(want.d_gain)));
      }
    }
  }
}

TEST_P(RmsNormOnEveryTarget, NaNAndInfinitySpoilTheirRowAlone) {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    for (const size_t width : {7, 64}) {
      Norm norm(3, width, true);
      norm.y[width + 4] = bad;  // in row 1
      const Outputs got = norm.Kernel(), clean = Norm(3, width, true).Kernel();
      for (size_t i = 0; i < norm.x.size(); ++i) {
        if (i / width != 1) {
          EXPECT_EQ(got.out[i], clean.out[i]);
          EXPECT_EQ(got.d_x[i], clean.d_x[i]);
        }
      }
      EXPECT_TRUE(std::isnan(got.out[width + 4]));
      EXPECT_TRUE(std::isnan(got.d_x[width + 4]));
      EXPECT_TRUE(std::isnan(got.d_gain[4]));
    }
  }
}

TRA_ON_EVERY_TARGET(RmsNormOnEveryTarget);

TEST(RmsNorm, WorkersDoNotChangeABit) {
  const Norm norm(1000, 59, true);
  const Outputs one = norm.Kernel(1);
  for (const size_t workers : {2, 5}) {
    const Outputs many = norm.Kernel(workers);
    EXPECT_TRUE(BitEqual(one.sum, many.sum));
    EXPECT_TRUE(BitEqual(one.out, many.out));
    EXPECT_TRUE(BitEqual(one.d_x, many.d_x));
    EXPECT_TRUE(BitEqual(one.d_gain, many.d_gain));
  }
}

TEST(RmsNorm, ZeroRowsStayZero) {
  Norm norm(2, 16, false);
  norm.x.assign(norm.x.size(), 0);
  const Outputs got = norm.Kernel();
  EXPECT_EQ(MaxAbs(got.out), 0);
  EXPECT_EQ(MaxAbs(got.d_gain), 0);
  // 1 / rms is 1 / sqrt(1e-6), so the gradient is of the order of 1000.
  EXPECT_LT(MaxError(got.d_x, norm.Reference().d_x), 1e-3);
}

TEST(RmsNorm, RefusesRowsOfNoChannels) {
  Serial serial;
  EXPECT_THROW(RmsNormForward({}, serial), std::invalid_argument);
  EXPECT_THROW(RmsNormBackward({}, serial), std::invalid_argument);
}

TEST(RmsNormReference, GradientsMatchFiniteDifferences) {
  const Norm norm(3, 7, true);
  const Outputs analytic = norm.Reference();
  const auto loss = [&](const Norm& at) {
    const Outputs outputs = at.Reference();
    return Dot(outputs.out, norm.d_out) + Dot(outputs.sum, norm.d_sum);
  };
  const auto numeric = [&](Doubles Norm::*input) {
    return FiniteDifferences(norm.*input, [&](const Doubles& value) {
      Norm moved = norm;
      moved.*input = value;
      return loss(moved);
    });
  };
  EXPECT_LT(MaxError(numeric(&Norm::x), analytic.d_x), 1e-7);
  EXPECT_LT(MaxError(numeric(&Norm::y), analytic.d_x), 1e-7);
  EXPECT_LT(MaxError(numeric(&Norm::gain), analytic.d_gain), 1e-7);
}

}  // namespace
}  // namespace tra::testing
