#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "bench/bench.h"
#include "tra/ops/attention.h"

namespace tra::bench {

Problem Problem::Draw(int64_t batch, int64_t heads, int64_t length, int64_t width) {
  at::manual_seed(length + width);
  // As projections make them: [B,T,H,d], viewed as [B,H,T,d].
  const auto draw = [&] { return at::randn({batch, length, heads, width}).transpose(1, 2); };
  Problem problem;
  problem.q = draw();
  problem.k = draw();
  problem.v = draw();
  problem.d_out = draw();
  problem.log_gate = at::log_sigmoid(at::randn({batch, length, heads}) + 2).transpose(1, 2);
  return problem;
}

void Problem::SetGate(double gate) { log_gate = at::full_like(log_gate, std::log(gate)); }

void Problem::SetDensity(double density) {
  // A large first channel decides the sign of every score.
  const at::Tensor sign = at::where(at::rand({k.size(0), k.size(1), k.size(2)}) < density, 1.0, -1.0).to(at::kFloat);
  const double large = 3 * std::sqrt(static_cast<double>(k.size(3)));
  q.select(3, 0).fill_(large);
  k.select(3, 0).copy_(sign * large);
}

AttentionShape Problem::Shape() const {
  const auto size = [](const at::Tensor& t, int64_t dim) { return static_cast<size_t>(t.size(dim)); };
  return {size(q, 0), size(q, 1), size(q, 2), size(k, 2), size(q, 3), size(v, 3)};
}

AttentionOptions Options(ScoreRule rule, float stop_eps) {
  AttentionOptions options;
  options.rule = rule;
  options.qk_norm = rule == ScoreRule::kThreshold;
  options.stop_eps = stop_eps;
  return options;
}

namespace {

at::Tensor Gate(const Problem& problem, const AttentionOptions& options) {
  return options.rule == ScoreRule::kThreshold ? problem.log_gate : at::Tensor();
}

double Largest(const at::Tensor& x) { return x.abs().max().item<double>(); }

}  // namespace

std::vector<at::Tensor> Gradients(const Problem& problem, const AttentionOptions& options, bool composed) {
  const auto leaf = [](const at::Tensor& x) { return x.detach().set_requires_grad(true); };
  std::vector<at::Tensor> inputs = {leaf(problem.q), leaf(problem.k), leaf(problem.v)};
  if (options.rule == ScoreRule::kThreshold) inputs.push_back(leaf(problem.log_gate));
  const at::Tensor gate = options.rule == ScoreRule::kThreshold ? inputs[3] : at::Tensor();
  const auto attend = composed ? AttentionComposed : Attention;
  const at::Tensor out = attend(inputs[0], inputs[1], inputs[2], gate, options, {}, {});
  std::vector<at::Tensor> result = torch::autograd::grad({out}, inputs, {problem.d_out});
  result.push_back(out.detach());
  return result;
}

// Where fp32 rounds a score to the other side of zero than float64 does, counts differ from there on. Rows without such
// a score must agree; the scores in question are far too small to matter.
at::Tensor Decided(const Problem& wide, const AttentionOptions& options) {
  if (options.rule != ScoreRule::kThreshold) return at::ones({1}, at::kBool);
  const auto norm = [](const at::Tensor& x) { return x * at::rsqrt(x.square().mean(-1, true) + 1e-6); };
  const at::Tensor s = at::matmul(norm(wide.q), norm(wide.k).transpose(-2, -1)) / std::sqrt(double(wide.q.size(3)));
  return (s.abs() > 2e-6).all(-1);  // [B,H,Tq]
}

void Require(bool right, const std::string& what) {
  if (!right) throw WrongResult("wrong result, so no speed: " + what);
}

void Forward(const Problem& problem, const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  Attention(problem.q, problem.k, problem.v, Gate(problem, options), options);
}

void Both(const Problem& problem, const AttentionOptions& options, bool composed) {
  Gradients(problem, options, composed);
}

void Check(const Problem& problem, const AttentionOptions& options) {
  const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble); };
  {
    const c10::NoGradGuard no_grad;
    const int64_t length = problem.q.size(2);
    const int64_t rows = std::min<int64_t>(48, length);
    const auto one_head = [](const at::Tensor& x) { return x.narrow(0, 0, 1).narrow(1, 0, 1); };
    const auto last = [&](const at::Tensor& x) { return one_head(x).narrow(2, length - rows, rows); };
    Problem part;
    part.q = wide(last(problem.q));
    part.k = wide(one_head(problem.k));
    part.v = wide(one_head(problem.v));
    part.log_gate = wide(last(problem.log_gate));
    const at::Tensor want = AttentionComposed(part.q, part.k, part.v, Gate(part, options), options);
    const at::Tensor got = last(Attention(problem.q, problem.k, problem.v, Gate(problem, options), options));
    const at::Tensor decided = Decided(part, options);
    const at::Tensor error = at::where(decided.unsqueeze(-1), (wide(got) - want).abs(), at::zeros({}, at::kDouble));
    Require(Largest(error) < 1e-5, Format("outputs differ by %.2g", Largest(error)));
  }
  const int64_t length = std::min<int64_t>(384, problem.q.size(2));
  const auto head = [&](const at::Tensor& x) { return x.narrow(0, 0, 1).narrow(1, 0, 1).narrow(2, 0, length); };
  Problem small{head(problem.q), head(problem.k), head(problem.v), head(problem.log_gate), head(problem.d_out)};
  Problem exact{wide(small.q), wide(small.k), wide(small.v), wide(small.log_gate), wide(small.d_out)};
  // Rows with an undecided score get no gradient, so that they cannot spoil the gradients of keys that other rows
  // share.
  const at::Tensor decided = Decided(exact, options).to(at::kDouble).unsqueeze(-1);
  exact.d_out = exact.d_out * decided;
  small.d_out = small.d_out * decided.to(at::kFloat);
  const std::vector<at::Tensor> got = Gradients(small, options, false), want = Gradients(exact, options, true);
  for (size_t i = 0; i + 1 < got.size(); ++i) {
    const double error = Largest(wide(got[i]) - want[i]);
    Require(error < 1e-5 * std::max(1.0, Largest(want[i])), Format("gradient %zu differs by %.2g", i, error));
  }
}

}  // namespace tra::bench
