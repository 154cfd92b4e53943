// Measures the memory that a call needs beyond its inputs and outputs, from the peak that the operating system records.
#include <malloc.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "bench/bench.h"
#include "tra/kernels/parallel.h"

namespace tra::bench {
namespace {

double StatusMiB(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) {
      double kib = 0;
      std::istringstream(line.substr(std::string(key).size() + 1)) >> kib;
      return kib / 1024;
    }
  }
  throw std::runtime_error(std::string("no ") + key + " in /proc/self/status");
}

// Returns how much the peak of the resident set grows while `run` runs.
template <typename Run>
double PeakMiB(const Run& run) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak to what is resident now
  const double before = StatusMiB("VmRSS");
  run();
  return StatusMiB("VmHWM") - before;
}

}  // namespace

void RunMemory(const Settings& settings, Report& report) {
  const int64_t length = 65536;
  // Quick runs stop early and take seconds; the goal is for runs that visit every key.
  const float stop_eps = settings.quick ? kDefaultStopEps : kStopNever;
  report.judge = settings.threads == 2 && !settings.quick;
  report.Section(Format("Memory beyond inputs and outputs: batch 1, 8 heads, T %lld, d 64, %d threads, early stop %s",
                        static_cast<long long>(length), settings.threads, settings.quick ? "on, gates 0.9" : "off"));
  Problem problem = Problem::Draw(1, 8, length, 64);
  problem.SetGate(0.9);
  const AttentionOptions options = Options(ScoreRule::kThreshold, stop_eps);
  const auto rows = [](const at::Tensor& x) {
    return Rows<float>{x.data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
  };
  const auto input = [&](const at::Tensor& x) {
    const Rows<float> view = rows(x);
    return Rows<const float>{view.data, view.batch_stride, view.head_stride, view.row_stride};
  };
  // Outputs are written beforehand, so that only what the call itself allocates is counted.
  const at::Tensor out = at::zeros_like(problem.q), d_q = at::zeros_like(problem.q), d_k = at::zeros_like(problem.q);
  const at::Tensor d_v = at::zeros_like(problem.q), d_gate = at::zeros_like(problem.log_gate);
  at::Tensor log2_sum, first_key;
  ThreadPool pool(static_cast<size_t>(settings.threads));

  const auto fill = [&](auto& args) {
    args.shape = problem.Shape();
    args.q = input(problem.q);
    args.k = input(problem.k);
    args.v = input(problem.v);
    args.rule_input = input(problem.log_gate);
    args.log2_sum = log2_sum.data_ptr<float>();
    args.first_key = first_key.data_ptr<int32_t>();
  };

  const double forward = PeakMiB([&] {
    log2_sum = at::zeros({8, length});
    first_key = at::zeros({8, length}, at::kInt);
    ForwardArgs<float> args;
    fill(args);
    args.out = rows(out);
    AttentionForward(args, options, pool);
  });
  const double backward = PeakMiB([&] {
    BackwardArgs<float> args;
    fill(args);
    args.out = input(out);
    args.d_out = input(problem.d_out);
    args.d_q = rows(d_q);
    args.d_k = rows(d_k);
    args.d_v = rows(d_v);
    args.d_rule_input = rows(d_gate);
    AttentionBackward(args, options, pool);
  });
  report.Goal("forward, MiB (what it saves for the backward included)", {forward, forward, forward}, "<=", 64);
  report.Goal("backward, MiB on top of that", {backward, backward, backward}, "<=", 64);
  const double all = forward + backward;
  report.Goal("forward and backward, MiB in all", {all, all, all}, "<=", 64);
}

}  // namespace tra::bench
