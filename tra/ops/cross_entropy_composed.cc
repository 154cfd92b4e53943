// Computes the loss by a chain of tensor operations: any dtype, any device, differentiable by autograd.
#include "tra/ops/cross_entropy_composed.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "tra/ops/cross_entropy.h"
#include "tra/ops/cross_entropy_check.h"

namespace tra {

SupervisedLosses ComposedLosses(const char* name, const at::Tensor& hidden, const at::Tensor& weight,
                                const at::Tensor& targets) {
  CheckCrossEntropy(name, hidden, weight, targets);
  // Autocast would lower the product to half precision.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  // The sum over tokens overflows half precision, and logits in half precision are too coarse to exponentiate.
  const at::ScalarType dtype = hidden.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  SupervisedLosses result;
  const at::Tensor flat = targets.reshape({-1});
  result.positions = (flat >= 0).nonzero().squeeze(-1);
  const at::Tensor target = flat.index_select(0, result.positions);
  if (target.numel() > 0) CheckLargestTarget(name, target.max().item<int64_t>(), weight.size(0));
  const at::Tensor rows = hidden.reshape({flat.numel(), hidden.size(-1)});
  at::Tensor logits = at::matmul(rows.index_select(0, result.positions).to(dtype), weight.to(dtype).t());
  // +inf and NaN make the log-softmax NaN; -inf would pass as probability 0 and is made NaN here.
  logits = logits + logits.detach().amin(-1, true) * 0;
  const at::Tensor log_softmax = logits.log_softmax(-1);
  result.losses = -log_softmax.gather(-1, target.unsqueeze(-1)).squeeze(-1);
  result.correct = at::logical_and(logits.detach().argmax(-1) == target, at::isfinite(result.losses.detach()));
  return result;
}

CrossEntropySum LinearCrossEntropyComposed(const at::Tensor& hidden, const at::Tensor& weight,
                                           const at::Tensor& targets) {
  const SupervisedLosses each = ComposedLosses("linear_cross_entropy_composed", hidden, weight, targets);
  return {each.losses.sum(), each.losses.numel(), each.correct.sum().item<int64_t>()};
}

}  // namespace tra
