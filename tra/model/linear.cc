#include "tra/model/linear.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tra {

Linear::Linear(int64_t in, int64_t out, bool with_bias, Init& init) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight = register_parameter("weight", init.Uniform({out, in}, bound));
  if (with_bias) bias = register_parameter("bias", init.Uniform({out}, bound));
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
}

}  // namespace tra
