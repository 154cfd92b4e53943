// Computes Threshold Relative Attention on plain arrays, without LibTorch.
#include <tra/kernels/attention.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr size_t kBatch = 2, kHeads = 2, kTokens = 100, kWidth = 32;
  std::vector<float> q(kBatch * kHeads * kTokens * kWidth), k(q), v(q), out(q);
  std::vector<float> log_gate(kBatch * kHeads * kTokens, -0.1f);
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = static_cast<float>(i % 7) - 3.0f;
    k[i] = static_cast<float>(i % 5) - 2.0f;
    v[i] = static_cast<float>(1 + i / (kTokens * kWidth));  // the same in all of a head
  }

  tra::ForwardArgs<float> args;
  args.shape = {kBatch, kHeads, kTokens, kTokens, kWidth, kWidth};
  args.q = tra::ContiguousRows<const float>(q.data(), kHeads, kTokens, kWidth);
  args.k = tra::ContiguousRows<const float>(k.data(), kHeads, kTokens, kWidth);
  args.v = tra::ContiguousRows<const float>(v.data(), kHeads, kTokens, kWidth);
  args.rule_input = tra::ContiguousRows<const float>(log_gate.data(), kHeads, kTokens, 1);
  args.out = tra::ContiguousRows(out.data(), kHeads, kTokens, kWidth);
  tra::ThreadPool threads(0);
  tra::AttentionForward(args, {}, threads);

  // Weights sum to one, or to zero where nothing is kept. The output is that sum times the values.
  size_t kept = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 0.0f && std::abs(out[i] / v[i] - 1) > 1e-4f) return 1;
    kept += out[i] != 0.0f;
  }
  std::printf("%zu of %zu outputs are not zero\n", kept, out.size());
  return kept > 0 ? 0 : 1;
}
