// Initial weights from an explicit generator, and seeds from seeds.
#ifndef TRA_MODEL_INIT_H_
#define TRA_MODEL_INIT_H_

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tra {

void FillUniform(const at::Tensor& x, double low, double high, at::Generator& random);
void FillNormal(const at::Tensor& x, double deviation, at::Generator& random);
void FillZero(const at::Tensor& x);

// A seed for part `which` of what `seed` is the seed of.
uint64_t SeedOf(uint64_t seed, uint64_t which);

}  // namespace tra

#endif  // TRA_MODEL_INIT_H_
