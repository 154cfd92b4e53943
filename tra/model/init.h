// Initial weights from an explicit generator.
#ifndef TRA_MODEL_INIT_H_
#define TRA_MODEL_INIT_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace tra {

void FillUniform(const at::Tensor& x, double low, double high, at::Generator& random);
void FillNormal(const at::Tensor& x, double deviation, at::Generator& random);
void FillZero(const at::Tensor& x);

}  // namespace tra

#endif  // TRA_MODEL_INIT_H_
