// Measures when the early stop pays: by gate (how fast weights decay with distance) and density (how many keys are
// kept).
#include "bench/bench.h"
#include "tra/ops/attention.h"

namespace tra::bench {
namespace {

void CheckStop(const Problem& problem, float eps) {
  const c10::NoGradGuard no_grad;
  const auto run = [&](float stop_eps) {
    return Attention(problem.q, problem.k, problem.v, problem.log_gate, Options(ScoreRule::kThreshold, stop_eps));
  };
  const double error = (run(eps) - run(kStopNever)).abs().max().item<double>();
  const double bound = 2 * eps * problem.v.abs().max().item<double>() + 1e-6;  // 1e-6 for fp32 rounding
  Require(error <= bound, Format("stopping changed the result by %.2g, bound %.2g", error, bound));
}

}  // namespace

void RunStop(const Settings& settings, Report& report) {
  const AttentionOptions on = Options(ScoreRule::kThreshold, kDefaultStopEps);
  const AttentionOptions off = Options(ScoreRule::kThreshold, kStopNever);
  report.judge = !settings.quick;
  {
    const int64_t length = settings.quick ? 4096 : 16384;
    report.Section(
        Format("Early stop: batch 1, 2 heads, T %lld, d 64, every gate 0.5", static_cast<long long>(length)));
    Problem problem = Problem::Draw(1, 2, length, 64);
    problem.SetGate(0.5);
    CheckStop(problem, kDefaultStopEps);
    const Rounds rounds({{"forward, off", [&] { Forward(problem, off); }, 3},
                         {"forward, on", [&] { Forward(problem, on); }},
                         {"both, off", [&] { Both(problem, off); }, 3},
                         {"both, on", [&] { Both(problem, on); }}},
                        settings.quick ? 3 : 6);
    report.Goal("forward, times faster with the stop", rounds.TimeRatio(0, 1), ">=", 20);
    report.Goal("forward + backward, times faster with the stop", rounds.TimeRatio(2, 3), ">=", 20);
  }
  if (settings.quick) return;

  report.Section(
      "Early stop by gate and density of kept keys: batch 1, 2 heads, T 8192, d 64; forward time over that of "
      "random keys without the stop");
  const Problem random = Problem::Draw(1, 2, 8192, 64);
  for (const double density : {-1.0, 0.9, 0.3, 0.1, 0.02}) {
    for (const double gate : {0.5, 0.9, 0.99, 0.999, 0.9999}) {
      Problem problem = Problem::Draw(1, 2, 8192, 64);
      if (density >= 0) problem.SetDensity(density);
      problem.SetGate(gate);
      CheckStop(problem, kDefaultStopEps);
      const Rounds rounds({{"random", [&] { Forward(random, off); }},
                           {"off", [&] { Forward(problem, off); }},
                           {"on", [&] { Forward(problem, on); }}},
                          3);
      const Spread without = rounds.TimeRatio(1, 0), with = rounds.TimeRatio(2, 0), gain = rounds.TimeRatio(1, 2);
      const std::string name = density < 0 ? "random, half kept" : Format("%g of the keys", density);
      report.Row(Format("%-18s gate %-7g stop off %.3f   stop on %.3f   gain %6.2f", name.c_str(), gate, without.median,
                        with.median, gain.median),
                 {{"density", density < 0 ? 0.5 : density},
                  {"structured", density >= 0},
                  {"gate", gate},
                  {"off", without.median},
                  {"on", with.median},
                  {"gain", gain.median}});
    }
  }
}

}  // namespace tra::bench
