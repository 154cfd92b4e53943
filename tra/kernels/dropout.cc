#include "tra/kernels/dropout.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tra/kernels/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tra/kernels/dropout.cc"
#include "hwy/foreach_target.h"
// Must come after foreach_target.
#include "hwy/highway.h"
#include "tra/kernels/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tra {
namespace HWY_NAMESPACE {

constexpr size_t kElementsPerTask = 128 * kDropoutBlock;

void RunDropout(const float* x, size_t n, const DropoutOptions& options, float* out, Parallel& parallel) {
  parallel.Run(DivideUp(n, kElementsPerTask), [&](size_t task, size_t /*worker*/) HWY_ATTR {
    const size_t first = task * kElementsPerTask;
    DropoutFactors dropout(options, n);
    dropout.ForEach(first, std::min(kElementsPerTask, n - first),
                    [&](size_t c, const auto& access, VF factor)
                        HWY_ATTR { access.Store(hn::Mul(access.Load(x + first + c), factor), out + first + c); });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tra
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tra {
HWY_EXPORT(RunDropout);

void CheckDropout(const DropoutOptions& options, size_t elements) {
  if (!(options.p >= 0.0f && options.p < 1.0f)) {
    throw std::invalid_argument("dropout: p must be in [0, 1), got " + std::to_string(options.p));
  }
  if (options.offsets != nullptr) {
    const int32_t tokens = options.offsets[options.sequences];
    if (tokens > 0 ? elements % static_cast<size_t>(tokens) != 0 : elements != 0) {
      throw std::invalid_argument("dropout: " + std::to_string(elements) + " elements are not those of " +
                                  std::to_string(tokens) + " tokens");
    }
    return;
  }
  if (options.sequences == 0 || elements % options.sequences != 0) {
    throw std::invalid_argument("dropout: " + std::to_string(elements) + " elements are not those of " +
                                std::to_string(options.sequences) + " sequences of the same size");
  }
}

void ApplyDropout(const float* x, size_t n, const DropoutOptions& options, float* out, Parallel& parallel) {
  CheckDropout(options, n);
  HWY_DYNAMIC_DISPATCH(RunDropout)(x, n, options, out, parallel);
}

}  // namespace tra
#endif  // HWY_ONCE
