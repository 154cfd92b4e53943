// Makes three passes over a row: the first finds the largest logit, the second computes the exponentials and their sum,
// the third divides them by that sum. Even a row of a large vocabulary stays in the second-level cache in between.
#include "tra/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/cross_entropy.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/log2.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

struct Largest {
  float value;
  bool finite;  // whether every logit of the row is finite
};

Largest FindLargest(const float* x, size_t n) {
  const DF df;
  // What Max does with NaN differs between targets, so NaN is looked for separately: the sum of all logits times 0 is 0
  // only if all are finite.
  VF max = hn::Set(df, std::numeric_limits<float>::lowest());
  VF zero = hn::Zero(df);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VF v = hn::LoadU(df, x + i);
    max = hn::Max(max, v);
    zero = hn::MulAdd(v, hn::Zero(df), zero);
  }
  Largest largest{hn::GetLane(hn::MaxOfLanes(df, max)), hn::GetLane(hn::SumOfLanes(df, zero)) == 0.0f};
  for (; i < n; ++i) {
    largest.value = std::max(largest.value, x[i]);
    largest.finite &= std::isfinite(x[i]);
  }
  return largest;
}

// Returns whether one of x[0, n) equals `value`.
bool Contains(const float* x, size_t n, float value) {
  const DF df;
  const VF wanted = hn::Set(df, value);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    if (!hn::AllFalse(df, hn::Eq(hn::LoadU(df, x + i), wanted))) return true;
  }
  return std::find(x + i, x + n, value) != x + n;
}

// Returns the sum of exp(x - max). With kStore it also stores each exponential to e, which may be x.
template <bool kStore>
double SumExp(const float* x, size_t n, float max, float* e) {
  const DF df;
  const VF shift = hn::Set(df, max);
  const VF log2e = hn::Set(df, static_cast<float>(kLog2E));
  const auto exp = [&](VF v) HWY_ATTR { return Exp2(hn::Mul(hn::Sub(v, shift), log2e)); };
  constexpr size_t kSumBlock = 256;  // elements per fp32 sum; one over a whole vocabulary would lose digits
  double sum = 0.0;
  const size_t whole = n / kLanes * kLanes;
  for (size_t begin = 0; begin < whole; begin += kSumBlock) {
    VF block = hn::Zero(df);
    for (size_t i = begin; i < std::min(begin + kSumBlock, whole); i += kLanes) {
      const VF each = exp(hn::LoadU(df, x + i));
      block = hn::Add(block, each);
      if (kStore) hn::StoreU(each, df, e + i);
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(df, block)));
  }
  if (whole == n) return sum;
  HWY_ALIGN float tail[kLanes];
  std::fill(std::copy(x + whole, x + n, tail), tail + kLanes, -std::numeric_limits<float>::infinity());
  const VF last = exp(hn::Load(df, tail));
  hn::Store(last, df, tail);
  if (kStore) std::copy(tail, tail + (n - whole), e + whole);
  return sum + static_cast<double>(hn::GetLane(hn::SumOfLanes(df, last)));
}

void Multiply(float* x, size_t n, float by) {
  const DF df;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(df, x + i), hn::Set(df, by)), df, x + i);
  for (; i < n; ++i) x[i] *= by;
}

void CrossEntropyRow(const CrossEntropyArgs<float>& args, size_t row) {
  const size_t n = args.classes;
  const float* x = args.logits + row * n;
  float* gradient = args.gradient == nullptr ? nullptr : args.gradient + row * n;
  const auto target = static_cast<size_t>(args.targets[row]);
  const Largest largest = FindLargest(x, n);
  if (!largest.finite) {
    args.losses[row] = std::numeric_limits<double>::quiet_NaN();
    if (args.correct != nullptr) args.correct[row] = 0;
    if (gradient != nullptr) std::fill_n(gradient, n, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const float of_target = x[target];  // read before the gradient overwrites it
  if (args.correct != nullptr) {
    args.correct[row] = of_target == largest.value && !Contains(x, target, largest.value) ? 1 : 0;
  }
  const double sum =
      gradient == nullptr ? SumExp<false>(x, n, largest.value, nullptr) : SumExp<true>(x, n, largest.value, gradient);
  args.losses[row] = static_cast<double>(largest.value) - static_cast<double>(of_target) + std::log(sum);
  if (gradient == nullptr) return;
  const double of_softmax = static_cast<double>(gradient[target]) / sum;
  Multiply(gradient, n, static_cast<float>(args.scale / sum));
  gradient[target] = static_cast<float>(args.scale * (of_softmax - 1.0));
}

void CrossEntropyRows(const CrossEntropyArgs<float>& args, size_t begin, size_t end) {
  for (size_t row = begin; row < end; ++row) CrossEntropyRow(args, row);
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(CrossEntropyRows);

void CheckTargets(const int64_t* targets, size_t rows, size_t classes) {
  for (size_t row = 0; row < rows; ++row) {
    if (targets[row] >= 0 && static_cast<size_t>(targets[row]) < classes) continue;
    throw std::invalid_argument("cross_entropy: target " + std::to_string(targets[row]) + " in row " +
                                std::to_string(row) + " is not one of the " + std::to_string(classes) +
                                " classes; leave out rows that have no target");
  }
}

void CrossEntropy(const CrossEntropyArgs<float>& args, Parallel& parallel) {
  CheckTargets(args.targets, args.rows, args.classes);
  if (args.rows == 0) return;
  constexpr size_t kTaskLogits = size_t{1} << 15;  // logits per task: enough to be worth handing out
  const size_t rows_per_task = std::max<size_t>(1, kTaskLogits / args.classes);
  parallel.Run((args.rows + rows_per_task - 1) / rows_per_task, [&](size_t task, size_t /*worker*/) {
    const size_t begin = task * rows_per_task;
    HWY_DYNAMIC_DISPATCH(CrossEntropyRows)(args, begin, std::min(begin + rows_per_task, args.rows));
  });
}

}  // namespace tra
#endif  // HWY_ONCE
