// Runs sgemm, with which the others are compared.
#ifndef TRA_BENCH_SGEMM_H_
#define TRA_BENCH_SGEMM_H_

#include <ATen/core/Tensor.h>

#include "bench/report.h"

namespace tra::bench {

// The fastest product of two matrices that this machine has: oneDNN's, which models use, or that of LibTorch's BLAS.
class Sgemm {
 public:
  // Times both and reports which is used, and whether OpenBLAS computes below what the processor can do.
  explicit Sgemm(Report& report);

  Contender Make() const;
  static double Flops() { return 2.0 * kSide * kSide * kSide; }

 private:
  static constexpr int kSide = 2048;
  void Run(bool onednn) const;

  at::Tensor a_, b_, c_;
  bool onednn_ = true;
};

}  // namespace tra::bench

#endif  // TRA_BENCH_SGEMM_H_
