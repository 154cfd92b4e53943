#include "tra/model/linear.h"

#include <ATen/ATen.h>

#include <cmath>

#include "tra/model/init.h"

namespace tra {

Linear::Linear(int64_t in, int64_t out, bool with_bias, at::Generator& random)
    : weight(register_parameter("weight", at::empty({out, in}))) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  FillUniform(weight, -bound, bound, random);
  if (!with_bias) return;
  bias = register_parameter("bias", at::empty({out}));
  FillUniform(bias, -bound, bound, random);
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
}

}  // namespace tra
