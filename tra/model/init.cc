#include "tra/model/init.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "tra/kernels/philox.h"

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

uint64_t SeedOf(uint64_t seed, uint64_t which) {
  constexpr uint32_t kSeeds = 2;  // keeps these draws apart from those of dropout under the same seed
  const auto words = Philox({static_cast<uint32_t>(which), static_cast<uint32_t>(which >> 32), 0, kSeeds},
                            {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

}  // namespace tra
