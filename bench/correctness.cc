// Shows what the operator computes, before other parts show how fast it is.
#include <array>
#include <cmath>

#include "bench/bench.h"
#include "tra/ops/attention.h"

namespace tra::bench {
namespace {

// Shows equations 5 and 7 of the paper: which keys four queries keep, and how far away they then are.
void ShowPaperExample(Report& report) {
  report.Section("The paper's example (equations 5 and 7): distance counts kept keys only");
  const c10::NoGradGuard no_grad;
  const at::Tensor keep = at::tensor({1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0}, at::kFloat).view({4, 4});
  const at::Tensor eye = at::eye(4).view({1, 1, 4, 4});
  AttentionOptions options;
  options.qk_norm = false;
  // Kept keys all score 1/2 and the gate is 1/e, so the log of the weights falls by one with each kept key.
  const at::Tensor weights =
      Attention((2 * keep - 1).view({1, 1, 4, 4}), eye, eye, at::full({1, 1, 4}, -1.0f), options).view({4, 4});
  const int want[4][4] = {{1, 0, 0, 0}, {1, 0, 0, 0}, {0, 2, 1, 0}, {2, 0, 1, 0}};
  for (int64_t i = 0; i < 4; ++i) {
    std::string kept, distances, text;
    const double nearest = weights[i].max().item<double>();
    for (int64_t j = 0; j < 4; ++j) {
      const double weight = weights[i][j].item<double>();
      const int distance = weight > 0 ? 1 + static_cast<int>(std::lround(std::log(nearest / weight))) : 0;
      Require(distance == want[i][j], Format("query %d, key %d: distance %d", int(i), int(j), distance));
      kept += Format(" %d", keep[i][j].item<float>() > 0 ? 1 : 0);
      distances += Format(" %d", distance);
      text += Format("  %.3f", weight);
    }
    report.Row(Format("query %d   keeps%s   distances%s   weights%s", static_cast<int>(i) + 1, kept.c_str(),
                      distances.c_str(), text.c_str()),
               {{"query", i + 1}, {"distances", distances}, {"weights", text}});
  }
}

double Error(const at::Tensor& a, const at::Tensor& b) { return (a.to(at::kDouble) - b).abs().max().item<double>(); }

}  // namespace

void RunCorrectness(Report& report) {
  ShowPaperExample(report);
  report.Section(
      "Largest error against float64: the kernels, and for comparison the same maths as fp32 tensor operations");
  const AttentionOptions options = Options(ScoreRule::kThreshold, kDefaultStopEps);
  for (const auto& [batch, heads, length, width] :
       {std::array<int64_t, 4>{2, 3, 97, 59}, {1, 4, 512, 64}, {1, 1, 1025, 128}}) {
    Problem problem = Problem::Draw(batch, heads, length, width);
    const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble); };
    Problem exact{wide(problem.q), wide(problem.k), wide(problem.v), wide(problem.log_gate), wide(problem.d_out)};
    const at::Tensor decided = Decided(exact, options).unsqueeze(-1);
    exact.d_out = exact.d_out * decided;
    problem.d_out = problem.d_out * decided;
    const std::vector<at::Tensor> want = Gradients(exact, options, true);
    const std::vector<at::Tensor> fast = Gradients(problem, options, false), plain = Gradients(problem, options, true);
    const char* names[] = {"dq", "dk", "dv", "dgate", "out"};
    std::string text;
    nlohmann::json figures = {{"batch", batch}, {"heads", heads}, {"length", length}, {"width", width}};
    for (size_t i = 0; i < want.size(); ++i) {
      const at::Tensor rows = i == 4 ? decided : at::ones({1}, at::kBool);
      const double ours = Error(fast[i] * rows, want[i] * rows), theirs = Error(plain[i] * rows, want[i] * rows);
      Require(ours < 1e-5 * std::max(1.0, want[i].abs().max().item<double>()),
              Format("%s differs by %.2g", names[i], ours));
      text += Format("  %s %.1e (%.1e)", names[i], ours, theirs);
      figures[names[i]] = {{"kernel", ours}, {"composed", theirs}};
    }
    report.Row(
        Format("batch %d, %d heads, T %4d, d %3d:%s", int(batch), int(heads), int(length), int(width), text.c_str()),
        figures);
  }
}

}  // namespace tra::bench
