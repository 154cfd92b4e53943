#include "bench/step.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "bench/sgemm.h"
#include "tra/base/names.h"
#include "tra/model/attention/variants.h"
#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/ops/product.h"
#include "tra/tasks/batch_tensors.h"
#include "tra/tasks/generated.h"

namespace tra::bench {
namespace {

struct Size {
  std::string name;
  ModelConfig config;
  FlatBatch batch;

  double Tokens() const { return static_cast<double>(batch.tokens.size()); }
};

// Returns sequences of one length, of random tokens that are all answers.
FlatBatch DrawTokens(int64_t vocabulary, int64_t sequences, int64_t length) {
  at::manual_seed(1);
  FlatBatch batch;
  for (int64_t i = 0; i < sequences; ++i) {
    const at::Tensor drawn = at::randint(vocabulary, {length + 1}, at::kLong);
    const auto* tokens = drawn.data_ptr<int64_t>();
    batch.tokens.insert(batch.tokens.end(), tokens, tokens + length);
    batch.targets.insert(batch.targets.end(), tokens + 1, tokens + length + 1);
    batch.EndSequence(i);
  }
  return batch;
}

Size MakeWindows(const ModelConfig& config, int64_t length, bool quick) {
  return {"", config, DrawTokens(config.vocabulary, quick ? 8 : 64, length)};
}

// Makes the step of a configuration: examples of a task, which may differ in length.
Size MakeTask(const char* task, int64_t layers, int64_t width, Block block, int64_t examples, bool quick) {
  const GeneratedExamples source(task, "train", 1);
  ModelConfig config;
  config.vocabulary = static_cast<int64_t>(source.names().size());
  config.layers = layers;
  config.heads = 4;
  config.width = width;
  config.block = block;
  return {"", config, MakeBatch(source, 0, quick ? examples / 8 : examples).parts[0]};
}

// A small vocabulary limits the comparison to the blocks, where the variants differ: with GPT-2's, two thirds of
// medium's products would be in the head.
constexpr int64_t kVocabulary = 256;

struct SizeRow {
  const char* name;
  Size (*make)(bool quick);
};
constexpr SizeRow kSizes[] = {
    // The paper's Appendix D has windows of 256 and batches of 64.
    {"mini", [](bool quick) { return MakeWindows(ModelConfig::Mini(kVocabulary), 256, quick); }},
    {"mini512", [](bool quick) { return MakeWindows(ModelConfig::Mini(kVocabulary), 512, quick); }},
    {"medium", [](bool quick) { return MakeWindows(ModelConfig::Medium(kVocabulary), 256, quick); }},
    // configs/demo.toml, configs/small/copy.toml, configs/small/induct.toml
    {"demo", [](bool quick) { return MakeTask("flipflop", 2, 64, Block::kNormedResidual, 8, quick); }},
    {"copy", [](bool quick) { return MakeTask("copy", 3, 256, Block::kPrenorm, 64, quick); }},
    {"induct", [](bool quick) { return MakeTask("induct", 2, 256, Block::kPrenorm, 64, quick); }},
};

Size FindSize(const std::string& name, bool quick) {
  Size size = FindNamed("size", name, kSizes).make(quick);
  size.name = name;
  return size;
}

// Describes the product [rows, in] x [in, out] of a Linear, which runs three times: forward, for the gradient of its
// input and for that of its weights.
struct Product {
  int64_t rows, in, out;
  double Flops() const { return 6.0 * static_cast<double>(rows * in * out); }
};

std::vector<Product> Products(const Size& size) {
  const int64_t rows = size.batch.Positions(), e = size.config.width;
  const int64_t answers = rows - std::count(size.batch.targets.begin(), size.batch.targets.end(), kUnsupervised);
  std::vector<Product> products;
  for (int64_t layer = 0; layer < size.config.layers; ++layer) {
    for (int i = 0; i < 4; ++i) products.push_back({rows, e, e});  // query, key, value, out
    products.push_back({rows, e, 4 * e});
    products.push_back({rows, 2 * e, e});
  }
  products.push_back({answers, e, size.config.vocabulary});
  return products;
}

// Returns the operations in the products of a step. Attention counts in full: 4 H T T/2 d per layer and sequence
// forward, 3.5 times that for both.
double StepFlops(const Size& size) {
  double flops = 0;
  for (const Product& each : Products(size)) flops += each.Flops();
  for (size_t i = 0; i < size.batch.Sequences(); ++i) {
    const auto t = static_cast<double>(size.batch.offsets[i + 1] - size.batch.offsets[i]);
    flops += 3.5 * 4 * static_cast<double>(size.config.layers * size.config.width) * t * t / 2;
  }
  return flops;
}

// Runs the products of a step's Linears and nothing else, on buffers that are allocated beforehand.
class ProductsAlone {
 public:
  explicit ProductsAlone(const Size& size) : products_(Products(size)) {
    int64_t wide = 0, weights = 0, rows = size.batch.Positions();
    for (const Product& each : products_) {
      wide = std::max({wide, each.in, each.out});
      weights = std::max(weights, each.in * each.out);
    }
    in_ = at::randn({rows * wide});
    out_ = at::randn({rows * wide});
    d_in_ = at::empty({rows * wide});
    weight_ = at::randn({weights});
    d_weight_ = at::empty({weights});
  }

  Contender Make() {
    return {"its products alone",
            [this] {
              for (const Product& p : products_) {
                const at::Tensor in = in_.narrow(0, 0, p.rows * p.in).view({p.rows, p.in});
                const at::Tensor out = out_.narrow(0, 0, p.rows * p.out).view({p.rows, p.out});
                const at::Tensor weight = weight_.narrow(0, 0, p.out * p.in).view({p.out, p.in});
                const at::Tensor d_weight = d_weight_.narrow(0, 0, p.out * p.in).view({p.out, p.in});
                Multiply(out, in, weight.t());
                Multiply(d_in_.narrow(0, 0, p.rows * p.in).view({p.rows, p.in}), out, weight);
                Multiply(d_weight, out.t(), in);
              }
            },
            1, false};
  }

 private:
  std::vector<Product> products_;
  at::Tensor in_, out_, d_in_, weight_, d_weight_;
};

class Trainee {
 public:
  Trainee(const Size& size, const std::string& attention, double stop_eps)
      : config_(Configure(size, attention, stop_eps)),
        model_(std::make_shared<Decoder>(config_, 1)),
        optimizer_({{model_->parameters(), 0.1}}),
        batch_(size.batch),
        tensors_(ViewBatch(batch_, at::kCPU)) {
    model_->train();
  }

  // Refuses to time a wrong result: compares the loss of two sequences, without dropout, with the same in float64.
  void Check() {
    const c10::NoGradGuard no_grad;
    const int64_t sequences = std::min<int64_t>(2, tensors_.sequence_ids.size(0));
    const int64_t positions = batch_.offsets[static_cast<size_t>(sequences)];
    const auto loss = [&](Decoder& model) {
      model.eval();
      Pass pass;
      pass.draws.cu_seqlens = tensors_.cu_seqlens.narrow(0, 0, sequences + 1);
      const CrossEntropySum sum =
          model.Loss(tensors_.tokens.narrow(1, 0, positions), tensors_.targets.narrow(1, 0, positions), pass);
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
    const Pass pass{{++step_, tensors_.sequence_ids, tensors_.cu_seqlens}};
    const CrossEntropySum sum = model_->Loss(tensors_.tokens, tensors_.targets, pass);
    sum.loss.backward();
    optimizer_.Step(1e-4, 1.0 / static_cast<double>(sum.supervised));
    optimizer_.ZeroGrad();
  }

 private:
  static ModelConfig Configure(const Size& size, const std::string& attention, double stop_eps) {
    ModelConfig config = size.config;
    config.attention = attention;
    for (size_t i = 0; i < size.batch.Sequences(); ++i) {
      config.max_length = std::max<int64_t>(config.max_length, size.batch.offsets[i + 1] - size.batch.offsets[i]);
    }
    config.train_length = config.max_length;
    config.stop_eps = stop_eps;
    return config;
  }

  ModelConfig config_;
  std::shared_ptr<Decoder> model_;
  AdamW optimizer_;
  FlatBatch batch_;
  BatchTensors tensors_;
  uint64_t step_ = 0;
};

std::string Title(const Size& size) {
  const auto text = [](int64_t n) { return std::to_string(n); };
  return size.name + ": " + text(size.config.layers) + " layers, " + text(size.config.heads) + " heads, width " +
         text(size.config.width) + ", vocabulary " + text(size.config.vocabulary) + ", " +
         std::to_string(size.batch.Sequences()) + " sequences, " + text(size.batch.Positions()) + " tokens";
}

void RunSize(const StepSettings& settings, const Size& size, const Sgemm& sgemm, Report& report) {
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
    // The untimed step before each timed one also brings the pool of memory back to what this model needs.
    contenders.push_back({name, [trainee] { trainee->Step(); }, judged ? 1 : settings.rounds, judged});
  }
  ProductsAlone products(size);
  contenders.push_back(sgemm.Make());
  contenders.push_back(products.Make());
  const size_t gemm = names.size(), alone = gemm + 1;

  const Rounds rounds(contenders, settings.rounds);
  const double flops = StepFlops(size), tokens = size.Tokens();
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

std::vector<std::string> StepSizes() {
  std::vector<std::string> names;
  for (const SizeRow& each : kSizes) names.emplace_back(each.name);
  return names;
}

void RunStep(const StepSettings& settings, const std::vector<std::string>& sizes, Report& report) {
  report.judge = !settings.quick;
  report.Section("Matrix products");
  const Sgemm sgemm(report);
  for (const std::string& size : sizes) RunSize(settings, FindSize(size, settings.quick), sgemm, report);
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
