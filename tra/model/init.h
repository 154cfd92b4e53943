// Initial weights from an explicit generator, and seeds from seeds.
#ifndef TRA_MODEL_INIT_H_
#define TRA_MODEL_INIT_H_

#include <ATen/core/Generator.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>

namespace tra {

void FillUniform(const at::Tensor& x, double low, double high, at::Generator& random);
void FillNormal(const at::Tensor& x, double deviation, at::Generator& random);
void FillZero(const at::Tensor& x);

// With PyTorch's default initialisation: all uniform within 1 / sqrt(in).
torch::nn::Linear MakeLinear(int64_t in, int64_t out, bool bias, at::Generator& random);

// A seed for part `which` of what `seed` is the seed of.
uint64_t SeedOf(uint64_t seed, uint64_t which);

}  // namespace tra

#endif  // TRA_MODEL_INIT_H_
