// Runs sgemm, with which the others are compared.
#ifndef TRA_BENCH_SGEMM_H_
#define TRA_BENCH_SGEMM_H_

#include <ATen/ATen.h>
#include <cblas.h>

#include "bench/report.h"

namespace tra::bench {

class Sgemm {
 public:
  Contender Make() {
    return {"sgemm", [this] {
              cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSide, kSide, kSide, 1.0f, a_.data_ptr<float>(),
                          kSide, b_.data_ptr<float>(), kSide, 0.0f, c_.data_ptr<float>(), kSide);
            }};
  }
  static double Flops() { return 2.0 * kSide * kSide * kSide; }

 private:
  static constexpr int kSide = 2048;
  at::Tensor a_ = at::randn({kSide, kSide}), b_ = at::randn({kSide, kSide}), c_ = at::empty({kSide, kSide});
};

}  // namespace tra::bench

#endif  // TRA_BENCH_SGEMM_H_
