// Measures what is gained by computing a batch of mixed lengths in parts of similar length (tra/tasks/batch.h).
#include <c10/core/GradMode.h>

#include <cmath>
#include <memory>

#include "bench/step.h"
#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/tasks/generated.h"
#include "tra/tasks/part_tensors.h"

namespace tra::bench {
namespace {

constexpr int64_t kExamples = 128;
constexpr int64_t kOneRectangle = 1 << 30;

class PartedTrainee {
 public:
  PartedTrainee(const ModelConfig& config, int64_t part_cost)
      : model_(std::make_shared<Decoder>(config, 1)), optimizer_({{model_->parameters(), 0.1}}) {
    options_.part_cost = part_cost;
    model_->train();
  }

  // Returns the mean loss over answers without dropout, and how many positions and parts it took.
  double MeanLoss(const ExampleSource& source, int64_t& padded, size_t& parts) {
    const c10::NoGradGuard no_grad;
    model_->eval();
    Batch batch = MakeBatch(source, 0, kExamples, options_);
    double sum = 0;
    for (BatchPart& part : batch.parts) sum += Loss(part).item<double>();
    model_->train();
    padded = batch.padded;
    parts = batch.parts.size();
    return sum / static_cast<double>(batch.answers);
  }

  void Step(const ExampleSource& source) {
    Batch batch = MakeBatch(source, step_ * kExamples, kExamples, options_);
    for (BatchPart& part : batch.parts) Loss(part).backward();
    optimizer_.Step(1e-4, 1.0 / static_cast<double>(batch.answers));
    optimizer_.ZeroGrad();
    ++step_;
  }

 private:
  at::Tensor Loss(BatchPart& part) {
    const PartTensors view = ViewPart(part, at::kCPU);
    const Pass pass{{1, view.sequence_ids}, view.lengths};
    return model_->Loss(view.tokens, view.targets, pass).loss;
  }

  std::shared_ptr<Decoder> model_;
  AdamW optimizer_;
  BatchOptions options_;
  uint64_t step_ = 0;
};

}  // namespace

void RunParts(const StepSettings& settings, Report& report) {
  const GeneratedExamples source("copy", "train", 1);
  for (const int64_t width : {128, 256}) {
    ModelConfig config = ModelConfig::Mini(static_cast<int64_t>(source.names().size()));
    config.width = width;
    report.Section(Format("A step of copy in parts of like length, batch %lld, %lld layers, width %lld",
                          static_cast<long long>(kExamples), static_cast<long long>(config.layers),
                          static_cast<long long>(width)));
    const std::vector<int64_t> costs = {kOneRectangle, 1024, 256, 64, 16, 0};
    std::vector<std::unique_ptr<PartedTrainee>> trainees;
    std::vector<Contender> contenders;
    std::vector<std::string> names;
    double want = 0;
    for (const int64_t cost : costs) {
      trainees.push_back(std::make_unique<PartedTrainee>(config, cost));
      PartedTrainee* trainee = trainees.back().get();
      int64_t padded = 0;
      size_t parts = 0;
      const double loss = trainee->MeanLoss(source, padded, parts);
      if (cost == kOneRectangle) want = loss;
      if (!(std::abs(loss - want) < 1e-5)) {
        throw std::runtime_error(Format("parts change the loss: %.8f, in one rectangle %.8f", loss, want));
      }
      names.push_back(cost == kOneRectangle ? "one rectangle" : Format("part cost %lld", static_cast<long long>(cost)));
      names.back() += Format(", %zu parts, %lld positions", parts, static_cast<long long>(padded));
      contenders.push_back({names.back(), [trainee, &source] { trainee->Step(source); }, 1, false});
    }
    const int rounds_wanted = settings.quick ? 2 : 5 * settings.rounds;
    const Rounds rounds(contenders, rounds_wanted);
    for (size_t i = 0; i < names.size(); ++i) {
      const Spread ratio = rounds.TimeRatio(i, 0);
      report.Row(Format("%-44s %.3f s  %.3f of one rectangle's time (%.3f..%.3f)", names[i].c_str(),
                        rounds.Seconds(i).median, ratio.median, ratio.low, ratio.high),
                 {{"width", width},
                  {"part_cost", costs[i]},
                  {"of_one_rectangle", ratio.median},
                  {"low", ratio.low},
                  {"high", ratio.high}});
    }
  }
}

}  // namespace tra::bench
