#include "tra/model/init.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

namespace tra {

Init::Init(uint64_t seed, at::Device device) : random_(at::detail::createCPUGenerator(seed)), device_(device) {}

at::Tensor Init::Uniform(at::IntArrayRef sizes, double bound) {
  return at::empty(sizes).uniform_(-bound, bound, random_).to(device_);
}

at::Tensor Init::Normal(at::IntArrayRef sizes, double deviation) {
  return at::empty(sizes).normal_(0.0, deviation, random_).to(device_);
}

at::Tensor Init::Constant(at::IntArrayRef sizes, double value) const { return at::full(sizes, value, device_); }

void Overwrite(const at::Tensor& parameter, const at::Tensor& values) {
  const c10::NoGradGuard no_grad;
  parameter.copy_(values);
}

}  // namespace tra
