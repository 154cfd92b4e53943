#include "bench/step.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "bench/sgemm.h"
#include "tra/model/attention/variants.h"
#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"

namespace tra::bench {
namespace {

struct Size {
  std::string name;
  ModelConfig config;
  int64_t batch;
  int64_t length;
};

// Returns the size of this name. The paper's Appendix D has windows of 256 and batches of 64. A small vocabulary limits
// the comparison to the blocks, where the variants differ: with GPT-2's, two thirds of medium's products would be in
// the head.
Size FindSize(const std::string& name, bool quick) {
  constexpr int64_t kVocabulary = 256;
  const int64_t batch = quick ? 8 : 64;
  if (name == "mini") return {name, ModelConfig::Mini(kVocabulary), batch, 256};
  if (name == "mini512") return {name, ModelConfig::Mini(kVocabulary), batch, 512};
  if (name == "medium") return {name, ModelConfig::Medium(kVocabulary), batch, 256};
  throw std::invalid_argument("unknown size '" + name + "'; there are mini, mini512 and medium");
}

// Describes the product [rows, in] x [in, out] of a Linear, which runs three times: forward, for the gradient of its
// input and for that of its weights.
struct Product {
  int64_t rows, in, out;
  double Flops() const { return 6.0 * static_cast<double>(rows * in * out); }
};

std::vector<Product> Products(const Size& size) {
  const int64_t rows = size.batch * size.length, e = size.config.width;
  std::vector<Product> products;
  for (int64_t layer = 0; layer < size.config.layers; ++layer) {
    for (int i = 0; i < 4; ++i) products.push_back({rows, e, e});  // query, key, value, out
    products.push_back({rows, e, 4 * e});
    products.push_back({rows, 2 * e, e});
  }
  products.push_back({rows, e, size.config.vocabulary});
  return products;
}

// Returns the operations in the products of a step. Attention counts in full: 4 B H T T/2 d per layer forward, 3.5
// times that for both.
double StepFlops(const Size& size) {
  double flops = 0;
  for (const Product& each : Products(size)) flops += each.Flops();
  const auto t = static_cast<double>(size.length);
  return flops + 3.5 * 4 * static_cast<double>(size.batch * size.config.layers * size.config.width) * t * t / 2;
}

// Runs the products of a step's Linears and nothing else, on buffers that are allocated beforehand.
class ProductsAlone {
 public:
  explicit ProductsAlone(const Size& size) : products_(Products(size)) {
    int64_t wide = 0, weights = 0, rows = size.batch * size.length;
    for (const Product& each : products_) {
      wide = std::max({wide, each.in, each.out});
      weights = std::max(weights, each.in * each.out);
    }
    in_ = at::randn({rows * wide});
    out_ = at::randn({rows * wide});
    weight_ = at::randn({weights});
  }

  Contender Make() {
    return {"its products alone",
            [this] {
              float *in = in_.data_ptr<float>(), *out = out_.data_ptr<float>(), *weight = weight_.data_ptr<float>();
              for (const Product& p : products_) {
                const int n = static_cast<int>(p.rows), i = static_cast<int>(p.in), o = static_cast<int>(p.out);
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, o, i, 1.0f, in, i, weight, i, 0.0f, out, o);
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, i, o, 1.0f, out, o, weight, i, 0.0f, in, i);
                cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, o, i, n, 1e-6f, out, o, in, i, 0.0f, weight, i);
              }
            },
            1, false};
  }

 private:
  std::vector<Product> products_;
  at::Tensor in_, out_, weight_;
};

class Trainee {
 public:
  Trainee(const Size& size, const std::string& attention, double stop_eps)
      : config_(Configure(size, attention, stop_eps)),
        model_(std::make_shared<Decoder>(config_, 1)),
        optimizer_({{model_->parameters(), 0.1}}) {
    at::manual_seed(1);
    tokens_ = at::randint(config_.vocabulary, {size.batch, size.length}, at::kLong);
    targets_ = tokens_.roll(-1, 1);
    model_->train();
  }

  // Refuses to time a wrong result: compares the loss of a part of the batch, without dropout, with the same in
  // float64.
  void Check() {
    const c10::NoGradGuard no_grad;
    const auto loss = [&](Decoder& model) {
      model.eval();
      const CrossEntropySum sum = model.Loss(tokens_.narrow(0, 0, 2), targets_.narrow(0, 0, 2));
      model.train();
      return sum.loss.item<double>() / static_cast<double>(sum.supervised);
    };
    Decoder wide(config_, 1);
    wide.to(at::kDouble);
    const double want = loss(wide), got = loss(*model_);
    if (!(std::abs(got - want) < 1e-5)) {
      throw std::runtime_error(Format("%s: its loss is %.8f, in float64 %.8f", config_.attention.c_str(), got, want));
    }
  }

  void Step() {
    Pass pass;
    pass.draws.seed = ++step_;
    const CrossEntropySum sum = model_->Loss(tokens_, targets_, pass);
    sum.loss.backward();
    optimizer_.Step(1e-4, 1.0 / static_cast<double>(sum.supervised));
    optimizer_.ZeroGrad();
  }

 private:
  static ModelConfig Configure(const Size& size, const std::string& attention, double stop_eps) {
    ModelConfig config = size.config;
    config.attention = attention;
    config.train_length = config.max_length = size.length;
    config.stop_eps = stop_eps;
    return config;
  }

  ModelConfig config_;
  std::shared_ptr<Decoder> model_;
  AdamW optimizer_;
  at::Tensor tokens_, targets_;
  uint64_t step_ = 0;
};

std::string Title(const Size& size) {
  return Format("%s: %lld layers, %lld heads, width %lld, vocabulary %lld, batch %lld, T %lld", size.name.c_str(),
                static_cast<long long>(size.config.layers), static_cast<long long>(size.config.heads),
                static_cast<long long>(size.config.width), static_cast<long long>(size.config.vocabulary),
                static_cast<long long>(size.batch), static_cast<long long>(size.length));
}

void RunSize(const StepSettings& settings, const Size& size, Report& report) {
  report.Section("Training step, " + Title(size));
  // RoPE comes first, because the others are compared with it.
  std::vector<std::string> names = {"rope", "tra"};
  for (const Variant& each : Variants()) {
    const std::string name = each.name;
    const bool wanted = settings.attentions.empty() || std::find(settings.attentions.begin(), settings.attentions.end(),
                                                                 name) != settings.attentions.end();
    if (wanted && name != "rope" && name != "tra") names.push_back(name);
  }
  names.push_back("tra, no early stop");
  std::vector<std::unique_ptr<Trainee>> trainees;
  std::vector<Contender> contenders;
  for (const std::string& name : names) {
    const bool full = name == names.back();
    trainees.push_back(std::make_unique<Trainee>(size, full ? "tra" : name, full ? kStopNever : kDefaultStopEps));
    Trainee* trainee = trainees.back().get();
    trainee->Check();
    // The larger sizes take long, so variants without a goal run there once, without warm-up.
    const bool judged = name == "rope" || name == "tra" || full || size.name == "mini";
    if (judged) trainee->Step();  // allocates its memory and the optimiser's state
    contenders.push_back({name, [trainee] { trainee->Step(); }, judged ? 1 : settings.rounds, false});
  }
  Sgemm sgemm;
  ProductsAlone products(size);
  contenders.push_back(sgemm.Make());
  contenders.push_back(products.Make());
  const size_t gemm = names.size(), alone = gemm + 1;

  const Rounds rounds(contenders, settings.rounds);
  const double flops = StepFlops(size), tokens = static_cast<double>(size.batch * size.length);
  for (size_t i = 0; i < names.size(); ++i) {
    const double seconds = rounds.Seconds(i).median;
    const Spread of_rope = rounds.TimeRatio(i, 0);
    const Spread of_sgemm = rounds.SpeedRatio(i, flops, gemm, Sgemm::Flops());
    const Spread in_products = rounds.TimeRatio(alone, i);
    report.Row(Format("%-20s %7.2f s  %8.0f tokens/s  %.3f of RoPE's time (%.3f..%.3f)  %.3f of sgemm's rate  %.2f in "
                      "products of Linears",
                      names[i].c_str(), seconds, tokens / seconds, of_rope.median, of_rope.low, of_rope.high,
                      of_sgemm.median, in_products.median),
               {{"size", size.name},
                {"attention", names[i]},
                {"seconds", seconds},
                {"tokens_per_second", tokens / seconds},
                {"of_rope", of_rope.median},
                {"of_rope_low", of_rope.low},
                {"of_rope_high", of_rope.high},
                {"of_sgemm", of_sgemm.median},
                {"products_share", in_products.median}});
  }
  double linear_flops = 0;
  for (const Product& each : Products(size)) linear_flops += each.Flops();
  const Spread products_rate = rounds.SpeedRatio(alone, linear_flops, gemm, Sgemm::Flops());
  report.Row(Format("%-20s %7.2f s  %.3f of sgemm's rate", "its products alone", rounds.Seconds(alone).median,
                    products_rate.median),
             {{"size", size.name}, {"products_of_sgemm", products_rate.median}});
  report.Goal(size.name + ": TRA's time over RoPE's", rounds.TimeRatio(1, 0), "<=", 1.00);
  report.Goal(size.name + ": without the early stop", rounds.TimeRatio(names.size() - 1, 0), "<=", 1.00);
  if (size.name == "mini") {
    report.Goal("mini: TRA's step, of sgemm's rate", rounds.SpeedRatio(1, flops, gemm, Sgemm::Flops()), ">=", 0.55);
    report.Goal("mini: RoPE's step, of sgemm's rate", rounds.SpeedRatio(0, flops, gemm, Sgemm::Flops()), ">=", 0.55);
  }
}

double PeakMiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    double kib = 0;
    if (line.rfind("VmHWM:", 0) == 0 && std::istringstream(line.substr(6)) >> kib) return kib / 1024;
  }
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

}  // namespace

void RunStep(const StepSettings& settings, const std::vector<std::string>& sizes, Report& report) {
  report.judge = !settings.quick;
  for (const std::string& size : sizes) RunSize(settings, FindSize(size, settings.quick), report);
}

void RunStepMemory(Report& report) {
  const Size size = FindSize("mini512", false);
  report.Section("Memory of a training step, " + Title(size));
  Trainee trainee(size, "tra", kDefaultStopEps);
  trainee.Step();
  trainee.Step();
  const double gib = PeakMiB() / 1024;
  report.Goal("TRA: peak of the whole process, GiB", {gib, gib, gib}, "<=", 3.0);
}

void RunStepLoop(const StepSettings& settings, const std::string& size, Report& report) {
  const std::string attention = settings.attentions.empty() ? "tra" : settings.attentions[0];
  Trainee trainee(FindSize(size, settings.quick), attention, kDefaultStopEps);
  const Rounds rounds({{attention, [&] { trainee.Step(); }}}, settings.rounds);
  report.Section("Loop: " + attention + ", " + size);
  report.Row(Format("%.3f s", rounds.Seconds(0).median), {{"seconds", rounds.Seconds(0).median}});
}

}  // namespace tra::bench
