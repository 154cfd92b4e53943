// Defines a Linear whose weights come from an explicit generator: torch::nn::Linear draws its own from the global one.
#ifndef TRA_MODEL_LINEAR_H_
#define TRA_MODEL_LINEAR_H_

#include <torch/nn/module.h>

#include "tra/model/init.h"

namespace tra {

class Linear : public torch::nn::Module {
 public:
  // Uses PyTorch's default initialisation: weight [out,in] and bias [out] uniform within 1 / sqrt(in).
  Linear(int64_t in, int64_t out, bool with_bias, Init& init);

  // [...,in] -> [...,out].
  at::Tensor operator()(const at::Tensor& x) const;

  at::Tensor weight;
  at::Tensor bias;  // undefined if there is none
};

}  // namespace tra

#endif  // TRA_MODEL_LINEAR_H_
