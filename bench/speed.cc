// Compares the GFLOP/s of the kernels with sgemm, the composed operations and, where LibTorch has it, its own flash
// attention.
#include <torch/version.h>

#include "bench/bench.h"
#include "bench/sgemm.h"
#include "tra/ops/attention.h"

namespace tra::bench {
namespace {

double ForwardFlops(const Problem& problem) {
  const AttentionShape shape = problem.Shape();
  const auto length = static_cast<double>(shape.keys);
  return 4.0 * static_cast<double>(shape.batch * shape.heads) * length * length / 2 * static_cast<double>(shape.width);
}
constexpr double kBothFactor = 3.5;  // two products forward, five backward

std::string ShapeText(const Problem& problem) {
  const AttentionShape shape = problem.Shape();
  return Format("batch %zu, %zu heads, T %zu, d %zu", shape.batch, shape.heads, shape.keys, shape.width);
}

void Line(Report& report, const std::string& shape, const char* what, const Rounds& rounds, size_t index, double flops,
          double sgemm_flops) {
  const Spread seconds = rounds.Seconds(index);
  const Spread ratio = rounds.SpeedRatio(index, flops, 0, sgemm_flops);
  report.Row(Format("%-34s %-26s %9.2f ms %8.1f GFLOP/s  %.3f of sgemm (%.3f..%.3f)", shape.c_str(), what,
                    1e3 * seconds.median, flops / seconds.median / 1e9, ratio.median, ratio.low, ratio.high),
             {{"shape", shape},
              {"what", what},
              {"ms", 1e3 * seconds.median},
              {"gflops", flops / seconds.median / 1e9},
              {"of_sgemm", ratio.median},
              {"of_sgemm_low", ratio.low},
              {"of_sgemm_high", ratio.high}});
}

void CheckListing() {
  const c10::NoGradGuard no_grad;
  const Problem problem = Problem::Draw(1, 2, 64, 64);
  const at::Tensor a = Listing(problem.q, problem.k, problem.v, problem.log_gate);
  const at::Tensor b =
      AttentionComposed(problem.q, problem.k, problem.v, problem.log_gate, Options(ScoreRule::kThreshold, kStopNever));
  Require((a - b).abs().max().item<double>() < 1e-5, "the listing disagrees with the composed operations");
}

#if TORCH_VERSION_MAJOR >= 2
// Returns LibTorch's own attention, which has a flash kernel for the CPU.
Contender SdpaForward(const Problem& problem) {
  return {"torch SDPA forward", [&problem] {
            const c10::NoGradGuard no_grad;
            at::scaled_dot_product_attention(problem.q, problem.k, problem.v, {}, 0.0, true);
          }};
}
#endif

}  // namespace

void RunSpeed(const Settings& settings, Report& report) {
  report.judge = !settings.quick;
  report.Section("Matrix products");
  const Sgemm sgemm(report);
  const AttentionOptions tra = Options(ScoreRule::kThreshold, kStopNever);
  const AttentionOptions tra_stop = Options(ScoreRule::kThreshold, kDefaultStopEps);
  const AttentionOptions softmax = Options(ScoreRule::kSoftmax, kStopNever);

  report.Section(
      "Speed: gates sigmoid(N(2,1)), early stop off unless said; GFLOP/s count 4*B*H*T*T/2*d forward, 3.5 "
      "times that for both");
  const Problem problem = Problem::Draw(1, 8, settings.quick ? 2048 : 4096, 64);
  Check(problem, tra);
  Check(problem, tra_stop);
  Check(problem, softmax);
  const int slow = settings.rounds;  // the composed version takes seconds: it runs in three to five rounds
  std::vector<Contender> contenders = {
      sgemm.Make(),
      {"TRA forward", [&] { Forward(problem, tra); }},
      {"softmax forward", [&] { Forward(problem, softmax); }},
      {"TRA forward, stop on", [&] { Forward(problem, tra_stop); }},
      {"TRA both", [&] { Both(problem, tra); }},
      {"softmax both", [&] { Both(problem, softmax); }},
      {"TRA both, stop on", [&] { Both(problem, tra_stop); }},
      {"composed forward",
       [&] {
         const c10::NoGradGuard no_grad;
         AttentionComposed(problem.q, problem.k, problem.v, problem.log_gate, tra);
       },
       std::max(1, slow / 3)},
      {"composed both", [&] { Both(problem, tra, true); }, std::max(1, slow / 3)},
      {"paper's listing forward",
       [&] {
         const c10::NoGradGuard no_grad;
         Listing(problem.q, problem.k, problem.v, problem.log_gate);
       },
       std::max(1, slow / 3)},
      {"paper's listing both", [&] { ListingBoth(problem); }, std::max(1, slow / 3)},
  };
#if TORCH_VERSION_MAJOR >= 2
  contenders.push_back(SdpaForward(problem));
#endif
  CheckListing();
  const Rounds rounds(contenders, settings.rounds);
  const double forward = ForwardFlops(problem), both = kBothFactor * forward, gemm = Sgemm::Flops();
  const std::string shape = ShapeText(problem);
  const double flops[] = {gemm, forward, forward, forward, both, both, both, forward, both, forward, both, forward};
  for (size_t i = 0; i < contenders.size(); ++i) {
    Line(report, i == 0 ? "2048^3" : shape, contenders[i].name.c_str(), rounds, i, flops[i], gemm);
  }
  report.Goal("TRA forward, of sgemm's rate", rounds.SpeedRatio(1, forward, 0, gemm), ">=", 0.70);
  report.Goal("TRA forward + backward, of sgemm's rate", rounds.SpeedRatio(4, both, 0, gemm), ">=", 0.55);
  report.Goal("softmax forward, time over TRA's", rounds.TimeRatio(2, 1), "<=", 1.05);
  report.Goal("softmax forward + backward, time over TRA's", rounds.TimeRatio(5, 4), "<=", 1.05);
  report.Goal("TRA forward, times faster than composed", rounds.TimeRatio(7, 1), ">=", 25);
  report.Goal("TRA forward + backward, times faster than composed", rounds.TimeRatio(8, 4), ">=", 20);
  report.Goal("TRA forward, times faster than the paper's listing", rounds.TimeRatio(9, 1), ">=", 25);
  report.Goal("TRA forward + backward, times faster than the listing", rounds.TimeRatio(10, 4), ">=", 20);
#if TORCH_VERSION_MAJOR >= 2
  report.Goal("softmax forward, times faster than torch SDPA", rounds.TimeRatio(11, 2), ">=", 1.0);
  report.Goal("TRA forward, times faster than torch SDPA", rounds.TimeRatio(11, 1), ">=", 1.0);
#endif
}

void RunShapes(const Settings& settings, Report& report) {
  report.judge = !settings.quick;
  report.Section("Shapes: early stop off unless said");
  const Sgemm sgemm(report);
  const AttentionOptions tra = Options(ScoreRule::kThreshold, kStopNever);
  const AttentionOptions tra_stop = Options(ScoreRule::kThreshold, kDefaultStopEps);
  const AttentionOptions softmax = Options(ScoreRule::kSoftmax, kStopNever);
  struct Case {
    int64_t batch, heads, length, width;
    double goal;  // of sgemm's rate, or 0
  };
  const Case cases[] = {{1, 8, 4096, 64, 0.9},
                        {16, 4, 512, 64, 0.75},
                        {128, 4, 100, 64, 0.55},
                        {1, 8, 4096, 32, 0},
                        {1, 8, 4096, 128, 0}};
  for (const auto& [batch, heads, length, width, goal] : cases) {
    if (settings.quick && length > 512) continue;
    const Problem problem = Problem::Draw(batch, heads, length, width);
    Check(problem, tra);
    Check(problem, tra_stop);
    Check(problem, softmax);
    std::vector<Contender> contenders = {
        sgemm.Make(),
        {"TRA forward", [&] { Forward(problem, tra); }},
        {"softmax forward", [&] { Forward(problem, softmax); }},
        {"TRA both", [&] { Both(problem, tra); }},
        {"softmax both", [&] { Both(problem, softmax); }},
        {"TRA forward, stop on", [&] { Forward(problem, tra_stop); }},
    };
#if TORCH_VERSION_MAJOR >= 2
    contenders.push_back(SdpaForward(problem));
#endif
    const Rounds rounds(contenders, settings.rounds);
    const std::string shape = ShapeText(problem);
    const double forward = ForwardFlops(problem), both = kBothFactor * forward, gemm = Sgemm::Flops();
    const double flops[] = {gemm, forward, forward, both, both, forward, forward};
    for (size_t i = 1; i < contenders.size(); ++i) {
      Line(report, shape, contenders[i].name.c_str(), rounds, i, flops[i], gemm);
    }
    if (goal == 0) continue;
    report.Goal("TRA forward, of sgemm's rate", rounds.SpeedRatio(1, forward, 0, gemm), ">=", goal);
    report.Goal("TRA forward + backward, of sgemm's rate", rounds.SpeedRatio(3, both, 0, gemm), ">=", goal);
#if TORCH_VERSION_MAJOR >= 2
    report.Goal("TRA forward, times faster than torch SDPA", rounds.TimeRatio(6, 1), ">=", 1.6);
    report.Goal("TRA forward, stop on, times faster than torch SDPA", rounds.TimeRatio(6, 5), ">=", 1.6);
#endif
  }
}

void RunLoop(const Settings& settings, Report& report) {
  const std::vector<int64_t>& shape = settings.loop_shape;
  const Problem problem = Problem::Draw(shape.at(0), shape.at(1), shape.at(2), shape.at(3));
  report.Section("Loop: TRA forward + backward, early stop off, " + ShapeText(problem));
  const AttentionOptions options = Options(ScoreRule::kThreshold, kStopNever);
  const Rounds rounds({{"both", [&] { Both(problem, options); }}}, settings.rounds);
  report.Row(Format("%.1f ms", 1e3 * rounds.Seconds(0).median), {{"ms", 1e3 * rounds.Seconds(0).median}});
}

}  // namespace tra::bench
