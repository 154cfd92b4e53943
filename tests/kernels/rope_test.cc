#include <cmath>
#include <stdexcept>

#include "tests/kernels/arrays.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/problem.h"
#include "tra/kernels/rope_reference.h"

namespace tra::testing {
namespace {

struct Rotation {
  RopeShape shape;
  int64_t first_position = 3;
  std::vector<int64_t> row_positions;  // empty: from first_position on
  double theta = 10000.0;
  Layout layout = Layout::kHeadFirst;
  Doubles x;  // in the memory order of the layout

  Rotation(const RopeShape& shape, Layout layout) : shape(shape), layout(layout), x(Draw(Elements(), 1)) {}

  size_t Elements() const { return shape.batch * shape.heads * shape.positions * shape.width; }

  template <typename T>
  Rows<T> View(T* data) const {
    const auto heads = static_cast<ptrdiff_t>(shape.heads), positions = static_cast<ptrdiff_t>(shape.positions),
               width = static_cast<ptrdiff_t>(shape.width);
    if (layout == Layout::kHeadFirst) return {data, heads * positions * width, positions * width, width};
    return {data, heads * positions * width, width, heads * width};
  }
  template <typename T, typename RunRotate>
  Doubles Run(const Doubles& from, bool backwards, const RunRotate& rotate) const {
    const std::vector<T> in = As<T>(from);
    std::vector<T> out = Poison<T>(from.size());
    RopeArgs<T> args;
    args.shape = shape;
    args.x = View(in.data());
    args.out = View(out.data());
    args.first_position = first_position;
    if (!row_positions.empty()) args.row_positions = row_positions.data();
    args.theta = theta;
    args.backwards = backwards;
    rotate(args);
    return Widen(out);
  }
  Doubles Kernel(bool backwards = false, size_t workers = 1) const {
    ThreadPool pool(workers);
    return Run<float>(x, backwards, [&](const auto& args) { Rotate(args, pool); });
  }
  Doubles Reference(bool backwards = false) const { return Run<double>(x, backwards, RotateReference); }
};

class RopeOnEveryTarget : public EveryTarget {};

TEST_P(RopeOnEveryTarget, MatchesReference) {
  for (const Layout layout : {Layout::kHeadFirst, Layout::kTokenFirst}) {
    for (const size_t positions : {0, 1, 3, 100}) {
      for (const size_t width : {2, 14, 58, 64, 256, 514}) {
        const Rotation rotation({2, 3, positions, width}, layout);
        for (const bool backwards : {false, true}) {
          // The error is that of two products of numbers up to 5 with rounded factors, and of their sum.
          EXPECT_LT(MaxError(rotation.Kernel(backwards), rotation.Reference(backwards)), 1e-6)
              << positions << " positions of " << width;
        }
      }
    }
  }
}

// The sequences of a flat batch each start at position 0.
TEST_P(RopeOnEveryTarget, RowsMayHaveTheirOwnPositions) {
  for (const Layout layout : {Layout::kHeadFirst, Layout::kTokenFirst}) {
    Rotation rotation({2, 3, 45, 58}, layout);
    for (int64_t i = 0; i < 45; ++i) rotation.row_positions.push_back(i < 5 ? i : i < 6 ? 0 : (i - 6) * 7);
    for (const bool backwards : {false, true}) {
      EXPECT_LT(MaxError(rotation.Kernel(backwards), rotation.Reference(backwards)), 1e-6);
    }
    rotation.row_positions[3] = -1;
    EXPECT_THROW(rotation.Kernel(), std::invalid_argument);
  }
}

TEST_P(RopeOnEveryTarget, NaNStaysInItsPair) {
  Rotation rotation({1, 1, 2, 14}, Layout::kHeadFirst);
  const Doubles clean = rotation.Kernel();
  rotation.x[14 + 7 + 3] = std::nan("");  // position 1, pair (3, 10)
  const Doubles got = rotation.Kernel();
  for (size_t i = 0; i < got.size(); ++i) {
    const bool hit = i == 14 + 3 || i == 14 + 10;
    EXPECT_EQ(std::isnan(got[i]), hit) << i;
    if (hit) continue;
    EXPECT_EQ(got[i], clean[i]) << i;
  }
}

TRA_ON_EVERY_TARGET(RopeOnEveryTarget);

TEST(Rope, WorkersDoNotChangeABit) {
  const Rotation rotation({3, 2, 100, 58}, Layout::kTokenFirst);
  const Doubles one = rotation.Kernel(false, 1);
  for (const size_t workers : {2, 5}) EXPECT_TRUE(BitEqual(one, rotation.Kernel(false, workers)));
}

// A cache of keys relies on this.
TEST(Rope, CuttingASequenceChangesNoBit) {
  const Rotation whole({1, 1, 100, 58}, Layout::kHeadFirst);
  const Doubles want = whole.Kernel();
  for (const size_t at : {0, 37, 99}) {
    Rotation one({1, 1, 1, 58}, Layout::kHeadFirst);
    one.first_position = whole.first_position + static_cast<int64_t>(at);
    const auto begin = static_cast<ptrdiff_t>(at * 58);
    one.x.assign(whole.x.begin() + begin, whole.x.begin() + begin + 58);
    EXPECT_TRUE(BitEqual(one.Kernel(), Doubles(want.begin() + begin, want.begin() + begin + 58)));
  }
}

TEST(Rope, FarPositionsKeepTheirAngles) {
  Rotation rotation({1, 1, 3, 64}, Layout::kHeadFirst);
  rotation.first_position = 1000000;
  EXPECT_LT(MaxError(rotation.Kernel(), rotation.Reference()), 1e-6);
}

// RoPE exists for this property.
TEST(Rope, DotProductsDependOnTheDistanceAlone) {
  Rotation q({1, 1, 1, 64}, Layout::kHeadFirst), k({1, 1, 1, 64}, Layout::kHeadFirst);
  k.x = Draw(64, 2);
  const auto score = [&](int64_t at_q, int64_t at_k) {
    q.first_position = at_q;
    k.first_position = at_k;
    return Dot(q.Kernel(), k.Kernel());
  };
  // 64 products of order 1; a shift of one position moves the score by far more.
  EXPECT_NEAR(score(7, 2), score(1007, 1002), 1e-5);
  EXPECT_GT(std::abs(score(7, 2) - score(7, 3)), 1e-2);
}

TEST(Rope, RefusesOddWidths) {
  Serial serial;
  RopeArgs<float> args;
  args.shape.width = 7;
  EXPECT_THROW(Rotate(args, serial), std::invalid_argument);
  args.shape.width = 8;
  args.theta = 0;
  EXPECT_THROW(Rotate(args, serial), std::invalid_argument);
}

TEST(RopeReference, PairsTurnByTheStatedAngle) {
  Rotation rotation({1, 1, 1, 4}, Layout::kHeadFirst);
  rotation.x = {1, 0, 0, 2};
  const Doubles got = rotation.Reference();
  const double slow = 3 / std::sqrt(10000.0);  // position 3, c = 1: 3 * theta^(-2 / 4)
  const Doubles want = {std::cos(3), -2 * std::sin(slow), std::sin(3), 2 * std::cos(slow)};
  EXPECT_LT(MaxError(got, want), 1e-15);
}

TEST(RopeReference, GradientMatchesFiniteDifferences) {
  Rotation rotation({1, 2, 2, 6}, Layout::kTokenFirst);
  const Doubles d_out = Draw(rotation.Elements(), 2);
  const Doubles numeric = FiniteDifferences(
      rotation.x, [&](const Doubles& x) { return Dot(rotation.Run<double>(x, false, RotateReference), d_out); });
  EXPECT_LT(MaxError(numeric, rotation.Run<double>(d_out, true, RotateReference)), 1e-8);
}

}  // namespace
}  // namespace tra::testing
