// Times one query against a long cache, and compares with the time it takes just to read what must be read.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/bench.h"
#include "tra/kernels/parallel.h"
#include "tra/ops/aten_parallel.h"
#include "tra/ops/attention.h"

namespace tra::bench {
namespace {

// Reads n floats, a multiple of 16, as fast as the machine can: wide loads into several sums, so that neither the
// number of loads nor a chain of additions limits the speed.
__attribute__((target_clones("avx2", "default"))) uint32_t ReadRow(const float* row, size_t n) {
  typedef uint32_t Words __attribute__((vector_size(32), aligned(4), may_alias));
  const auto* at = reinterpret_cast<const Words*>(row);
  Words sums[4] = {};
  const size_t vectors = n / 8;
  size_t i = 0;
  for (; i + 4 <= vectors; i += 4) {
    for (size_t j = 0; j < 4; ++j) sums[j] += at[i + j];
  }
  for (; i < vectors; ++i) sums[0] += at[i];
  const Words sum = sums[0] + sums[1] + sums[2] + sums[3];
  uint32_t total = 0;
  for (size_t j = 0; j < 8; ++j) total += sum[j];
  return total;
}

// Reads all keys and the values of the kept ones, split over the threads as in decode.
class Reader {
 public:
  Reader(const Problem& problem, const at::Tensor& keep) : problem_(problem) {
    const int64_t heads = keep.size(0);
    for (int64_t h = 0; h < heads; ++h) {
      const at::Tensor keys = keep[h].nonzero();
      const int64_t* at = keys.data_ptr<int64_t>();
      for (int64_t i = 0; i < keys.size(0); ++i) kept_.push_back({h, at[i]});
      first_.push_back(kept_.size());
    }
  }

  void Read() {
    AtenParallel parallel;
    const int64_t width = problem_.k.size(3), length = problem_.k.size(2);
    const int64_t heads = problem_.k.size(1), parts = 8;
    std::vector<uint32_t> sums(static_cast<size_t>(heads * parts));
    parallel.Run(sums.size(), [&](size_t task, size_t /*worker*/) {
      const auto h = static_cast<int64_t>(task) / parts, part = static_cast<int64_t>(task) % parts;
      const int64_t begin = length * part / parts, end = length * (part + 1) / parts;
      uint32_t sum = 0;
      // A head's keys are contiguous here.
      sum += ReadRow(Row(problem_.k, h, begin), static_cast<size_t>((end - begin) * width));
      const size_t from = h == 0 ? 0 : first_[static_cast<size_t>(h) - 1];
      const size_t n = first_[static_cast<size_t>(h)] - from;
      for (size_t i = from + n * part / parts; i < from + n * (part + 1) / parts; ++i) {
        sum += ReadRow(Row(problem_.v, kept_[i].head, kept_[i].key), static_cast<size_t>(width));
      }
      sums[task] = sum;
    });
    for (const uint32_t each : sums) total_ += each;
  }
  double Bytes() const {
    return 4.0 * static_cast<double>(problem_.k.size(3)) *
           static_cast<double>(problem_.k.size(1) * problem_.k.size(2) + static_cast<int64_t>(kept_.size()));
  }
  uint32_t Total() const { return total_; }

 private:
  struct Place {
    int64_t head, key;
  };
  static const float* Row(const at::Tensor& x, int64_t head, int64_t key) {
    return x.data_ptr<float>() + head * x.stride(1) + key * x.stride(2);
  }
  const Problem& problem_;
  std::vector<Place> kept_;
  std::vector<size_t> first_;  // where the kept keys of each head end
  volatile uint32_t total_ = 0;
};

Problem DrawCache(int64_t heads, int64_t length) {
  at::manual_seed(length);
  Problem problem;  // one query, and a cache laid out as [B,H,T,d]
  problem.q = at::randn({1, heads, 1, 64});
  problem.k = at::randn({1, heads, length, 64});
  problem.v = at::randn({1, heads, length, 64});
  problem.log_gate = at::log_sigmoid(at::randn({1, heads, 1}) + 2);
  return problem;
}

at::Tensor Decode(const Problem& problem, const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  return AttentionDecodeStep(problem.q, problem.k, problem.v, problem.log_gate, options);
}

void CheckDecode(const Problem& problem, const AttentionOptions& options) {
  const c10::NoGradGuard no_grad;
  const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble); };
  const at::Tensor want =
      AttentionComposed(wide(problem.q), wide(problem.k), wide(problem.v), wide(problem.log_gate), options);
  const double error = (wide(Decode(problem, options)) - want).abs().max().item<double>();
  Require(error < 1e-5, Format("decode differs by %.2g", error));
}

}  // namespace

void RunDecode(const Settings& settings, Report& report) {
  const AttentionOptions off = Options(ScoreRule::kThreshold, kStopNever);
  const AttentionOptions on = Options(ScoreRule::kThreshold, kDefaultStopEps);
  const int rounds_wanted = settings.quick ? 15 : 51;

  report.judge = true;
  report.Section("Decode, stop off: time over that of reading all keys and the kept values");
  for (const int64_t heads : {8, 1}) {
    for (const int64_t length : {4096, 65536}) {
      if (settings.quick && length > 4096) continue;
      const Problem problem = DrawCache(heads, length);
      CheckDecode(problem, off);
      CheckDecode(problem, on);
      Reader reader(problem, at::matmul(problem.k, problem.q.transpose(2, 3)).squeeze(-1).squeeze(0).gt(0));
      const Rounds rounds({{"read", [&] { reader.Read(); }}, {"decode", [&] { Decode(problem, off); }}}, rounds_wanted);
      const double read = rounds.Seconds(0).median;
      // The goal is for 8 heads.
      report.judge = heads == 8;
      report.Goal(Format("%lld heads, context %lld (read: %.3f ms, %.1f GB/s)", static_cast<long long>(heads),
                         static_cast<long long>(length), 1e3 * read, reader.Bytes() / read / 1e9),
                  rounds.TimeRatio(1, 0), "<=", 1.3);
    }
  }

  report.judge = true;
  report.Section("Decode, stop on, 8 heads, every gate 0.9: time over that at context 4096");
  std::vector<Problem> problems;
  const Problem longest = DrawCache(8, 65536);
  for (const int64_t length : {4096, 16384, 65536}) {
    // All have the same nearest keys, so that only the context differs.
    Problem problem = longest;
    problem.k = longest.k.narrow(2, 65536 - length, length);
    problem.v = longest.v.narrow(2, 65536 - length, length);
    problem.SetGate(0.9);
    CheckDecode(problem, on);
    problems.push_back(problem);
  }
  const auto decode = [&](size_t i) { return Contender{"decode", [&, i] { Decode(problems[i], on); }}; };
  const Rounds rounds({decode(0), decode(1), decode(2)}, rounds_wanted);
  for (size_t i = 1; i < problems.size(); ++i) {
    report.Goal(
        Format("context %lld (%.3f ms)", static_cast<long long>(problems[i].k.size(2)), 1e3 * rounds.Seconds(i).median),
        rounds.TimeRatio(i, 0), "<=", 1.2);
  }
}

}  // namespace tra::bench
