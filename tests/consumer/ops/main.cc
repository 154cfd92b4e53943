// Computes Threshold Relative Attention on torch tensors, from C++.
#include <ATen/ATen.h>
#include <tra/ops/attention.h>

int main() {
  const at::Tensor x = at::randn({1, 4, 50, 32});
  const at::Tensor log_gate = at::log_sigmoid(at::randn({1, 4, 50}));
  const at::Tensor out = tra::Attention(x, x, x, log_gate, {});
  // Queries and keys are equal, so every query keeps its own key and attends to something.
  return out.abs().amax(-1).gt(0).all().item<bool>() ? 0 : 1;
}
