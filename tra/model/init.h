// Draws initial weights from an explicit generator.
#ifndef TRA_MODEL_INIT_H_
#define TRA_MODEL_INIT_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tra {

// Draws on the CPU, so that weights are the same on every device.
class Init {
 public:
  explicit Init(uint64_t seed, at::Device device = at::kCPU);

  at::Tensor Uniform(at::IntArrayRef sizes, double bound);     // within -bound .. bound
  at::Tensor Normal(at::IntArrayRef sizes, double deviation);  // around 0
  at::Tensor Constant(at::IntArrayRef sizes, double value) const;
  at::Device Device() const { return device_; }

 private:
  at::Generator random_;
  at::Device device_;
};

// Replaces the values of a parameter.
void Overwrite(const at::Tensor& parameter, const at::Tensor& values);

}  // namespace tra

#endif  // TRA_MODEL_INIT_H_
