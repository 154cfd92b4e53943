#include "tra/ops/cross_entropy_check.h"

#include <ATen/ATen.h>

namespace tra {

void CheckCrossEntropy(const char* name, const at::Tensor& hidden, const at::Tensor& weight,
                       const at::Tensor& targets) {
  TORCH_CHECK_VALUE(hidden.defined() && weight.defined() && targets.defined(), name,
                    ": hidden, weight and targets must be tensors");
  const auto shapes = [&] {
    return c10::str("; got hidden ", hidden.sizes(), ", weight ", weight.sizes(), ", targets ", targets.sizes());
  };
  TORCH_CHECK_VALUE(weight.dim() == 2 && weight.size(0) > 0, name, ": weight must be [vocabulary, channel]", shapes());
  TORCH_CHECK_VALUE(hidden.dim() >= 1 && hidden.size(-1) == weight.size(1), name,
                    ": hidden must be [..., channel] with the channels of weight", shapes());
  TORCH_CHECK_VALUE(targets.sizes() == hidden.sizes().slice(0, hidden.dim() - 1), name,
                    ": targets must have the shape of hidden without its channels", shapes());
  TORCH_CHECK_VALUE(targets.scalar_type() == at::kLong, name, ": targets must be int64, got ", targets.scalar_type(),
                    "; convert with .to(torch.int64)");
  TORCH_CHECK_VALUE(at::isFloatingType(hidden.scalar_type()), name, ": hidden must be floating point, got ",
                    hidden.scalar_type());
  TORCH_CHECK_VALUE(weight.scalar_type() == hidden.scalar_type(), name, ": hidden and weight must have one dtype, got ",
                    hidden.scalar_type(), " and ", weight.scalar_type(), "; convert with .to(weight.dtype)");
  TORCH_CHECK_VALUE(weight.device() == hidden.device() && targets.device() == hidden.device(), name,
                    ": hidden, weight and targets must be on one device, got ", hidden.device(), ", ", weight.device(),
                    " and ", targets.device(), "; move with .to(hidden.device)");
}

void CheckLargestTarget(const char* name, int64_t largest, int64_t vocabulary) {
  TORCH_CHECK_INDEX(largest < vocabulary, name, ": target ", largest, " is not one of the ", vocabulary,
                    " rows of weight; use a negative target where nothing is to be predicted, or a larger vocabulary");
}

}  // namespace tra
