#include "bench/sgemm.h"

#include <ATen/ATen.h>
#include <dlfcn.h>
#include <hwy/targets.h>

#include <algorithm>
#include <string>

#include "tra/ops/product.h"

namespace tra::bench {
namespace {

// Returns the name of the processor that OpenBLAS took its kernels for, or "" if LibTorch uses another library.
std::string OpenBlasCore() {
  void* get_core = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  return get_core == nullptr ? "" : reinterpret_cast<char* (*)()>(get_core)();
}

// Returns what OPENBLAS_CORETYPE should say if OpenBLAS computes below what the processor can do, or "" if it does not.
// It takes the kernels of the oldest processors for those that are newer than itself.
std::string BetterCore(const std::string& core) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), core) != names.end();
  };
  const bool avx512 = is_one_of({"SkylakeX", "Cooperlake", "Sapphirerapids"});
  const bool avx2 = avx512 || is_one_of({"Haswell", "Zen", "Excavator"});
  const int64_t targets = hwy::SupportedTargets();
  if ((targets & HWY_AVX3) != 0) return avx512 ? "" : "SkylakeX";
  if ((targets & HWY_AVX2) != 0) return avx2 ? "" : "Haswell";
  return "";
}

}  // namespace

Sgemm::Sgemm(Report& report)
    : a_(at::randn({kSide, kSide})), b_(at::randn({kSide, kSide})), c_(at::empty({kSide, kSide})) {
  const Rounds rounds({{"oneDNN", [this] { Run(true); }}, {"LibTorch's BLAS", [this] { Run(false); }}}, 3);
  const double blas_over_onednn = rounds.SpeedRatio(1, 1, 0, 1).median;
  onednn_ = blas_over_onednn <= 1;
  const std::string core = OpenBlasCore();
  const std::string blas = core.empty() ? "LibTorch's BLAS" : "OpenBLAS (" + core + ")";
  report.Row(Format("sgemm is %s: of two matrices of %d x %d, %s has %.2f of oneDNN's rate",
                    onednn_ ? "oneDNN's" : blas.c_str(), kSide, kSide, blas.c_str(), blas_over_onednn),
             {{"sgemm", onednn_ ? "oneDNN" : blas}, {"blas", blas}, {"blas_of_onednn", blas_over_onednn}});
  const std::string better = core.empty() ? "" : BetterCore(core);
  if (!better.empty()) {
    report.Row(Format("warning: OpenBLAS computes as on a processor named %s, below what this one can do; set "
                      "OPENBLAS_CORETYPE=%s. Models do not use it, composed operations do",
                      core.c_str(), better.c_str()),
               {{"slow_blas", core}, {"better_core", better}});
  }
}

void Sgemm::Run(bool onednn) const {
  if (onednn) return Multiply(c_, a_, b_);
  at::Tensor out = c_;
  at::mm_out(out, a_, b_);
}

Contender Sgemm::Make() const {
  return {"sgemm", [this] { Run(onednn_); }};
}

}  // namespace tra::bench
