// tra bench products: the matrix products of models, by oneDNN and by LibTorch's BLAS.
#include <ATen/ATen.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "bench/commands.h"
#include "bench/options.h"
#include "bench/sgemm.h"
#include "tra/ops/product.h"
#include "tra/ops/threads.h"

namespace tra::bench {
namespace {

struct Settings {
  int rounds = 9, threads = 0;
  std::string json;
};

void Compare(const char* what, const at::Tensor& a, const at::Tensor& b, int rounds_wanted, Report& report) {
  const at::Tensor out = at::empty({a.size(0), b.size(1)});
  at::Tensor other = at::empty_like(out);
  Multiply(out, a, b);
  at::mm_out(other, a, b);
  if ((out - other).abs().max().item<double>() > 1e-3) throw std::runtime_error("the libraries disagree");
  const double flops = 2.0 * static_cast<double>(a.size(0) * a.size(1) * b.size(1));
  const Rounds rounds({{"oneDNN", [&] { Multiply(out, a, b); }}, {"BLAS", [&] { at::mm_out(other, a, b); }}},
                      rounds_wanted);
  const Spread ratio = rounds.SpeedRatio(0, 1, 1, 1);
  const double ours = flops / rounds.Seconds(0).median * 1e-9, theirs = flops / rounds.Seconds(1).median * 1e-9;
  report.Row(
      Format("%-9s [%5lld, %5lld] x [%5lld, %5lld]  oneDNN %6.1f GFLOP/s, BLAS %6.1f: %.2f times (%.2f..%.2f)", what,
             static_cast<long long>(a.size(0)), static_cast<long long>(a.size(1)), static_cast<long long>(b.size(0)),
             static_cast<long long>(b.size(1)), ours, theirs, ratio.median, ratio.low, ratio.high),
      {{"product", what},
       {"rows", a.size(0)},
       {"depth", a.size(1)},
       {"columns", b.size(1)},
       {"onednn", ours},
       {"blas", theirs},
       {"onednn_over_blas", ratio.median},
       {"low", ratio.low},
       {"high", ratio.high}});
}

void Run(const Settings& settings) {
  Report report;
  report.quiet = settings.json == "-";
  const int threads = UseThreads(settings.threads);
  report.Section(Format("Products of Linears, %d threads: forward, gradients of the input and of the weight", threads));
  const Sgemm sgemm(report);
  for (const int64_t width : {64, 128, 256}) {
    for (const auto& [in, out] : {std::pair(width, width), std::pair(width, 4 * width), std::pair(2 * width, width)}) {
      const int64_t tokens = 3400;  // as many as a batch of small/induct has
      const at::Tensor x = at::randn({tokens, in}), weight = at::randn({out, in}) * 0.1, d_y = at::randn({tokens, out});
      Compare("forward", x, weight.t(), settings.rounds, report);
      Compare("d_input", d_y, weight, settings.rounds, report);
      Compare("d_weight", d_y.t(), x * 0.1, settings.rounds, report);
    }
  }
  if (!settings.json.empty()) report.WriteJson(settings.json);
}

}  // namespace

void AddProducts(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("products", "The matrix products of models, by oneDNN and LibTorch's BLAS");
  auto settings = std::make_shared<Settings>();
  AddThreadsOption(*command, settings->threads);
  AddRoundsOption(*command, settings->rounds);
  AddJsonOption(*command, settings->json);
  command->footer("Example: tra bench products --threads 1");
  command->callback([settings] { Run(*settings); });
}

}  // namespace tra::bench
