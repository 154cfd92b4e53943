// Computes Threshold Relative Attention on plain arrays, without LibTorch.
#include <tra/kernels/attention.h>

#include <cstdio>
#include <vector>

int main() {
  constexpr size_t kTokens = 100, kWidth = 32;
  std::vector<float> q(kTokens * kWidth), k(q), v(q), out(q), log_gate(kTokens, -0.1f);
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = static_cast<float>(i % 7) - 3.0f;
    k[i] = static_cast<float>(i % 5) - 2.0f;
    v[i] = 1.0f;
  }
  const auto rows = [](auto* data) { return tra::Rows<std::remove_pointer_t<decltype(data)>>{data, 0, 0, kWidth}; };

  tra::ForwardArgs<float> args;
  args.shape = {1, 1, kTokens, kTokens, kWidth, kWidth};
  args.q = rows(static_cast<const float*>(q.data()));
  args.k = rows(static_cast<const float*>(k.data()));
  args.v = rows(static_cast<const float*>(v.data()));
  args.rule_input = {log_gate.data(), 0, 0, 1};
  args.out = rows(out.data());
  tra::ThreadPool threads(0);
  tra::AttentionForward(args, {}, threads);

  // Weights sum to one, or to zero where nothing is kept. As all values are one, the output is that sum.
  size_t kept = 0;
  for (const float each : out) {
    if (each != 0.0f && !(each > 0.9999f && each < 1.0001f)) return 1;
    kept += each != 0.0f;
  }
  std::printf("%zu of %zu outputs are not zero\n", kept, out.size());
  return kept > 0 ? 0 : 1;
}
