// Executes the operations of the paper's listing as eager PyTorch does: the baseline of the paper's own timings.
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "bench/bench.h"

namespace tra::bench {

at::Tensor Listing(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_gate) {
  const auto norm = [](const at::Tensor& x) { return x * at::rsqrt(x.pow(2).mean(-1, true) + 1e-6); };
  const int64_t length = q.size(2);
  const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
  at::Tensor s = at::matmul(norm(q), norm(k).transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(3)));
  s = at::relu(s.masked_fill(future, -1e11));
  const at::Tensor mask = s == 0;
  const at::Tensor steps = mask.logical_not().to(at::kFloat) * log_gate.unsqueeze(-1);
  const at::Tensor distance = steps.flip({-1}).cumsum(-1).flip({-1});
  const at::Tensor weights = (s + distance).masked_fill(mask, -1e11).softmax(-1);
  return at::matmul(weights.masked_fill(mask.all(-1).unsqueeze(-1), 0), v);
}

void ListingBoth(const Problem& problem) {
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& x : {problem.q, problem.k, problem.v, problem.log_gate}) {
    inputs.push_back(x.detach().set_requires_grad(true));
  }
  torch::autograd::grad({Listing(inputs[0], inputs[1], inputs[2], inputs[3])}, inputs, {problem.d_out});
}

}  // namespace tra::bench
