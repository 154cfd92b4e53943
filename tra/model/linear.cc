#include "tra/model/linear.h"

#include <cmath>

#include "tra/ops/product.h"

namespace tra {

Linear::Linear(int64_t in, int64_t out, bool with_bias, Init& init) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight = register_parameter("weight", init.Uniform({out, in}, bound));
  if (with_bias) bias = register_parameter("bias", init.Uniform({out}, bound));
}

at::Tensor Linear::operator()(const at::Tensor& x) const { return ApplyLinear(x, weight, bias); }

}  // namespace tra
