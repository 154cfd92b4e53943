#include "tra/kernels/adamw.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "tra/kernels/chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/adamw.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

// Updates elements [begin, end) in whole vectors of D; returns the first element that is left over.
template <bool kZeroGrad, class D>
size_t UpdateVectors(D d, const AdamWArray<float>& array, const AdamWOptions& options, size_t begin, size_t end) {
  const auto set = [&](double x) HWY_ATTR { return hn::Set(d, static_cast<float>(x)); };
  const auto step = static_cast<double>(array.step);
  const auto grad_scale = set(options.grad_scale), eps = set(options.eps);
  const auto beta1 = set(options.beta1), rest1 = set(1.0 - options.beta1);
  const auto beta2 = set(options.beta2), rest2 = set(1.0 - options.beta2);
  const auto decay = set(1.0 - options.lr * array.weight_decay);
  const auto step_size = set(options.lr / (1.0 - std::pow(options.beta1, step)));
  const auto correction = set(1.0 / std::sqrt(1.0 - std::pow(options.beta2, step)));
  float* HWY_RESTRICT parameter = array.parameter;
  float* HWY_RESTRICT grad = array.grad;
  float* HWY_RESTRICT exp_avg = array.exp_avg;
  float* HWY_RESTRICT exp_avg_sq = array.exp_avg_sq;
  size_t i = begin;
  for (; i + hn::Lanes(d) <= end; i += hn::Lanes(d)) {
    const auto g = hn::Mul(hn::LoadU(d, grad + i), grad_scale);
    const auto m = hn::MulAdd(beta1, hn::LoadU(d, exp_avg + i), hn::Mul(rest1, g));
    const auto v = hn::MulAdd(beta2, hn::LoadU(d, exp_avg_sq + i), hn::Mul(rest2, hn::Mul(g, g)));
    const auto ratio = hn::Div(m, hn::MulAdd(hn::Sqrt(v), correction, eps));
    const auto decayed = hn::Mul(hn::LoadU(d, parameter + i), decay);
    hn::StoreU(hn::NegMulAdd(step_size, ratio, decayed), d, parameter + i);
    hn::StoreU(m, d, exp_avg + i);
    hn::StoreU(v, d, exp_avg_sq + i);
    if (kZeroGrad) hn::StoreU(hn::Zero(d), d, grad + i);
  }
  return i;
}

template <bool kZeroGrad>
void UpdateElements(const AdamWArray<float>& array, const AdamWOptions& options, size_t begin, size_t end) {
  const size_t rest = UpdateVectors<kZeroGrad>(DF(), array, options, begin, end);
  if (rest < end) UpdateVectors<kZeroGrad>(hn::CappedTag<float, 1>(), array, options, rest, end);
}

void UpdateChunk(const AdamWArray<float>& array, const AdamWOptions& options, size_t begin, size_t end) {
  options.zero_grad ? UpdateElements<true>(array, options, begin, end)
                    : UpdateElements<false>(array, options, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(UpdateChunk);

void CheckAdamW(const AdamWOptions& options) {
  const auto refuse = [](const std::string& what, double value) {
    throw std::invalid_argument("adamw: " + what + ", got " + std::to_string(value));
  };
  for (const double beta : {options.beta1, options.beta2}) {
    if (!(beta >= 0.0 && beta < 1.0)) refuse("beta1 and beta2 must be in [0, 1)", beta);
  }
  if (!(options.eps >= 0.0)) refuse("eps must be at least 0", options.eps);
  if (!std::isfinite(options.lr)) refuse("lr must be finite", options.lr);
  if (!std::isfinite(options.grad_scale)) {
    refuse("grad_scale must be finite; skip the step if the gradient norm is not", options.grad_scale);
  }
}

void CheckAdamWStep(int64_t step) {
  if (step < 1) throw std::invalid_argument("adamw: steps count from 1, got " + std::to_string(step));
}

void AdamWUpdate(const std::vector<AdamWArray<float>>& arrays, const AdamWOptions& options, Parallel& parallel) {
  CheckAdamW(options);
  for (const AdamWArray<float>& array : arrays) CheckAdamWStep(array.step);
  const std::vector<Chunk> chunks = Chunks(arrays);
  parallel.Run(chunks.size(), [&](size_t task, size_t /*worker*/) {
    const Chunk& chunk = chunks[task];
    HWY_DYNAMIC_DISPATCH(UpdateChunk)(arrays[chunk.array], options, chunk.begin, chunk.end);
  });
}

}  // namespace tra
#endif  // HWY_ONCE
