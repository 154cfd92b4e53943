#include "tra/model/init.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tra {

void FillUniform(const at::Tensor& x, double low, double high, at::Generator& random) {
  const c10::NoGradGuard no_grad;
  x.uniform_(low, high, random);
}

void FillNormal(const at::Tensor& x, double deviation, at::Generator& random) {
  const c10::NoGradGuard no_grad;
  x.normal_(0.0, deviation, random);
}

void FillZero(const at::Tensor& x) {
  const c10::NoGradGuard no_grad;
  x.zero_();
}

}  // namespace tra
