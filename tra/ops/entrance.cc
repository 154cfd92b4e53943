#include "tra/ops/entrance.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "tra/ops/layout.h"

namespace tra {

void EnterOperator(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const std::string& name = op.schema().name();
  const size_t count = op.schema().arguments().size();
  const bool traced = keys.has(c10::DispatchKey::Python);
  bool on_kernels = false, first = true;
  for (auto value = stack->end() - static_cast<std::ptrdiff_t>(count); value != stack->end(); ++value) {
    if (!value->isTensor() || !value->toTensor().defined()) continue;
    const at::Tensor& x = value->toTensor();
    if (first) on_kernels = OnKernels(x);  // the first tensor decides it for all
    first = false;
    TORCH_CHECK(!on_kernels || !x._fw_grad(0).defined(), name,
                " has no forward-mode derivative in float32 on the CPU; use reverse mode, float64 tensors or, for "
                "attentions, the operator whose name ends in _composed");
    TORCH_CHECK(!traced || !c10::GradMode::is_enabled() || !x.requires_grad(), name,
                " cannot be traced with its gradients; trace under torch.no_grad(), or an operator whose name ends in "
                "_composed");
  }
  op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
}

}  // namespace tra
