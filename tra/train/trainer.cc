#include "tra/train/trainer.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "tra/eval/evaluate.h"
#include "tra/eval/part_tensors.h"
#include "tra/eval/scores.h"
#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/ops/error_message.h"
#include "tra/run/data.h"
#include "tra/tasks/batch.h"
#include "tra/text/windows.h"
#include "tra/train/checkpoint.h"
#include "tra/train/metrics.h"
#include "tra/train/schedule.h"
#include "tra/train/spikes.h"

namespace tra {
namespace {

// The optimiser's groups, and the names of their parameters in the same order.
struct Parameters {
  std::vector<AdamW::Group> groups;
  std::vector<std::string> names;
};

Parameters Group(const Decoder& model, const TrainConfig& config) {
  Parameters all;
  all.groups.resize(2);
  all.groups[0].weight_decay = config.weight_decay;
  for (const bool decays : {true, false}) {
    for (const auto& each : model.named_parameters()) {
      if ((config.decay == "all" || each.value().dim() >= 2) != decays) continue;
      all.groups[decays ? 0 : 1].parameters.push_back(each.value());
      all.names.push_back(each.key());
    }
  }
  return all;
}

AdamW::Options OptimizerOptions(const TrainConfig& config) {
  AdamW::Options options;
  options.beta1 = config.beta1;
  options.beta2 = config.beta2;
  options.eps = config.eps;
  return options;
}

class Trainer {
 public:
  Trainer(const RunConfig& config, const RunDirectory* run, Replicas& replicas, const TrainHooks& hooks)
      : config_(config),
        path_(run != nullptr ? run->path() : ""),
        replicas_(replicas),
        hooks_(hooks),
        data_(config, hooks.notice),
        model_(MakeModelConfig(config, data_.Vocabulary(), data_.TrainLength(), data_.Longest()), config.train.seed,
               replicas.device()),
        parameters_(Group(model_, config.train)),
        optimizer_(parameters_.groups, OptimizerOptions(config.train)),
        spikes_(config.train.spike) {
    bool restored = false;
    replicas_.OnFirst([&] {
      const auto found = LoadCheckpoint(path_, model_, parameters_.names, optimizer_, hooks.warning);
      restored = found.has_value();
      if (restored) progress_ = *found;
      metrics_ = std::make_unique<Metrics>(path_, progress_.metrics_bytes, progress_.events_bytes);
    });
    replicas_.Watch(model_.parameters());
    ShareProgress(restored);
    model_.train();
    if (data_.IsText()) OpenTexts();
  }

  Ended Run() {
    const TrainConfig& train = config_.train;
    resumed_at_ = progress_.step;
    started_ = interval_started_ = Clock::now();
    while (progress_.step < train.steps && !TargetReached()) {
      Step();
      const int64_t step = progress_.step;
      if (train.eval_every > 0 && step % train.eval_every == 0) QuickEvaluation();
      const bool last = step == train.steps || TargetReached();
      if (step % train.checkpoint_every == 0 || last || stop_requested_) Save();
      if (stop_requested_ && !last) return Ended::kStopped;
    }
    if (!EvaluateAtTheEnd()) return Ended::kStopped;
    return TargetReached() ? Ended::kTarget : Ended::kSteps;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Now, not when hours later one turns out to be missing or empty.
  void OpenTexts() {
    for (const std::string& split : TextSplits(config_)) EvalWindowCount(data_.Text(split).Size(), 1, 1);
  }

  bool TargetReached() const { return config_.train.target > 0 && progress_.target_hits >= config_.train.target_evals; }

  // Only the first process reads checkpoints: the others may be on machines that cannot see them.
  void ShareProgress(bool restored) {
    std::vector<double> values = {restored ? 1.0 : 0.0};
    if (replicas_.rank() == 0) {
      const Progress& p = progress_;
      values.insert(values.end(), {static_cast<double>(p.step), static_cast<double>(p.target_hits), p.loss_mean,
                                   static_cast<double>(p.tokens)});
    } else {
      values.resize(5, 0.0);
    }
    replicas_.Sum(values);
    if (replicas_.size() == 1 || values[0] == 0) return;
    progress_.step = static_cast<int64_t>(values[1]);
    progress_.target_hits = static_cast<int64_t>(values[2]);
    progress_.loss_mean = values[3];
    progress_.tokens = static_cast<int64_t>(values[4]);
    if (replicas_.rank() != 0) {
      std::vector<AdamW::State> states;
      for (const AdamW::Group& group : parameters_.groups) {
        for (const at::Tensor& each : group.parameters) {
          states.push_back({progress_.step, at::zeros_like(each), at::zeros_like(each)});
        }
      }
      optimizer_.LoadStates(states);
    }
    std::vector<at::Tensor> tensors;
    for (const AdamW::State& state : optimizer_.States()) {
      tensors.push_back(state.exp_avg);
      tensors.push_back(state.exp_avg_sq);
    }
    replicas_.Broadcast(tensors);
  }

  void Step() {
    const TrainConfig& train = config_.train;
    const int64_t step = progress_.step;
    BatchOptions options;
    options.part_positions = train.part_positions;
    const Replicas::Share share = replicas_.ShareOf(train.batch);
    const int64_t first = step * train.batch + share.first;
    Batch batch;
    if (share.count > 0) batch = MakeBatch(data_.Train(), static_cast<uint64_t>(first), share.count, options);
    double loss = 0, correct = 0;
    for (BatchPart& part : batch.parts) {
      // No number comes twice, so it stands for the step as well.
      const PartTensors view = ViewPart(part, train.seed, model_.Device());
      const CrossEntropySum sum = model_.Loss(view.tokens, view.targets, view.pass);
      if (&part == &batch.parts.back()) replicas_.BeginLastBackward();
      sum.loss.backward();
      loss += sum.loss.item<double>();
      correct += static_cast<double>(sum.correct);
    }
    replicas_.FinishGradients();
    const bool stop = hooks_.stop && hooks_.stop();
    std::vector<double> sums = {loss, correct, static_cast<double>(batch.answers), static_cast<double>(batch.symbols),
                                stop ? 1.0 : 0.0};
    replicas_.Sum(sums);
    const double answers = sums[2];
    const auto symbols = static_cast<int64_t>(sums[3]);
    loss = sums[0] / answers;
    correct = sums[1];
    stop_requested_ = sums[4] > 0;
    double scale = 1.0 / answers;
    const double norm = optimizer_.GradNorm() * scale;
    RequireFinite(loss, norm);
    if (train.clip > 0 && norm > train.clip) scale *= train.clip / norm;
    const double lr = LearningRate(train, step);
    optimizer_.Step(lr, scale);
    optimizer_.ZeroGrad();

    ++progress_.step;
    progress_.tokens += symbols;
    interval_tokens_ += symbols;
    WatchForSpikes(loss);
    if (progress_.step % train.log_every == 0 || progress_.step == train.steps) {
      Log(loss, correct / answers, lr, norm);
    }
  }

  // "; ...", for a message; the others leave it to the first process.
  std::string LastCheckpoint() const {
    if (replicas_.rank() != 0) return "";
    const auto saved = NewestCheckpoint(path_);
    return saved ? "; the last checkpoint before it is " + *saved : "; no checkpoint has been saved yet";
  }

  static constexpr char kRemedy[] = "; start another run with a lower train.lr, a longer train.warmup or train.clip=1";

  void RequireFinite(double loss, double norm) const {
    if (std::isfinite(loss) && std::isfinite(norm)) return;
    throw std::runtime_error("step " + std::to_string(progress_.step + 1) + ": the loss is " + std::to_string(loss) +
                             ", the norm of its gradient " + std::to_string(norm) + "; the weights are as before it" +
                             LastCheckpoint() + kRemedy);
  }

  void WatchForSpikes(double loss) {
    const double mean = progress_.loss_mean;
    const bool spike = spikes_.Notice(progress_.step, loss, progress_.loss_mean);
    if (!spike || !hooks_.warning || replicas_.rank() != 0) return;
    hooks_.warning("step " + std::to_string(progress_.step) + ": the loss jumped to " + std::to_string(loss) +
                   ", its mean was " + std::to_string(mean) + LastCheckpoint());
  }

  void Log(double loss, double accuracy, double lr, double norm) {
    const auto now = Clock::now();
    const double interval = std::chrono::duration<double>(now - interval_started_).count();
    const double elapsed = std::chrono::duration<double>(now - started_).count();
    StepInfo info;
    info.step = progress_.step;
    info.steps = config_.train.steps;
    info.loss = loss;
    info.accuracy = accuracy;
    info.lr = lr;
    info.grad_norm = norm;
    info.tokens_per_second = static_cast<double>(interval_tokens_) / interval;
    info.seconds_left = elapsed / static_cast<double>(progress_.step - resumed_at_) *
                        static_cast<double>(config_.train.steps - progress_.step);
    if (metrics_)
      metrics_->Write(info.step, {{"train/loss", loss},
                                  {"train/accuracy", accuracy},
                                  {"train/lr", lr},
                                  {"train/grad_norm", norm},
                                  {"train/tokens", static_cast<double>(progress_.tokens)},
                                  {"train/tokens_per_second", info.tokens_per_second}});
    interval_started_ = now;
    interval_tokens_ = 0;
    if (hooks_.logged) hooks_.logged(info);
  }

  void WriteRows(const std::vector<ResultRow>& rows) {
    Metrics::Values values;
    for (const ResultRow& row : rows) {
      std::string name = "eval/" + row.split;
      if (!row.group.empty()) name += "/" + row.group;
      if (row.window > 0) name += "/" + std::to_string(row.window);
      values.emplace_back(name + "/" + row.metric, row.value);
    }
    if (metrics_) metrics_->Write(progress_.step, values);
    if (hooks_.evaluated) hooks_.evaluated(progress_.step, rows);
  }

  // Processes share the work of an evaluation.
  EvaluateOptions Shared() const {
    EvaluateOptions options;
    options.share = replicas_.rank();
    options.shares = replicas_.size();
    options.sum = [this](std::vector<double>& values) { replicas_.Sum(values); };
    return options;
  }

  std::vector<ResultRow> Scored(const EvaluateOptions& options) {
    try {
      return Evaluate(model_, data_, config_, options);
    } catch (const NotFinite& error) {
      throw std::runtime_error("after step " + std::to_string(progress_.step) + ": " + error.what() + LastCheckpoint() +
                               kRemedy);
    }
  }

  void QuickEvaluation() {
    const auto began = Clock::now();
    EvaluateOptions options = Shared();
    options.most = config_.eval.quick_examples;
    if (data_.IsText()) {  // a glimpse, at the window of training, of what is not the test
      options.text_split = "valid";
      options.windows = {config_.data.window};
    }
    const std::vector<ResultRow> rows = Scored(options);
    const auto worst = WorstExactMatch(rows);
    const bool hit = config_.train.target > 0 && worst && *worst >= config_.train.target;
    progress_.target_hits = hit ? progress_.target_hits + 1 : 0;
    WriteRows(rows);
    interval_started_ += Clock::now() - began;  // not the trainer's time
  }

  // A finite loss may still have been followed by an update that was not.
  void RequireFiniteWeights() const {
    for (const auto& each : model_.named_parameters()) {
      if (at::isfinite(each.value()).all().item<bool>()) continue;
      throw std::runtime_error("step " + std::to_string(progress_.step) + ": the weight " + each.key() +
                               " is no longer finite" + LastCheckpoint() + kRemedy);
    }
  }

  void Save() {
    RequireFiniteWeights();
    replicas_.OnFirst([this] {
      progress_.metrics_bytes = metrics_->MetricsBytes();
      progress_.events_bytes = metrics_->EventsBytes();
      SaveCheckpoint(path_, model_, parameters_.names, optimizer_, progress_, config_.train.keep);
    });
  }

  // False if it was stopped on request.
  bool EvaluateAtTheEnd() {
    if (hooks_.notice) hooks_.notice("scoring the model of step " + std::to_string(progress_.step));
    EvaluateOptions options = Shared();
    options.stop = hooks_.stop;
    std::vector<ResultRow> rows;
    try {
      rows = Scored(options);
    } catch (const EvaluationStopped&) {
      return false;
    }
    WriteRows(rows);
    replicas_.OnFirst(
        [&] { WriteResults(path_ + "/results.json", MakeResults(config_, data_, progress_.step, rows)); });
    return true;
  }

  const RunConfig config_;
  const std::string path_;  // of the first process only
  Replicas& replicas_;
  const TrainHooks hooks_;
  RunData data_;
  Decoder model_;
  Parameters parameters_;
  AdamW optimizer_;
  Spikes spikes_;
  Progress progress_;
  std::unique_ptr<Metrics> metrics_;  // of the first process only
  bool stop_requested_ = false;       // of any process
  int64_t resumed_at_ = 0, interval_tokens_ = 0;
  Clock::time_point started_, interval_started_;
};

}  // namespace

Ended Train(const RunConfig& config, RunDirectory* run, Replicas& replicas, const TrainHooks& hooks) {
  try {
    RunConfig shared = config;  // folders may have other names on other machines
    shared.data.corpus = shared.data.cache = shared.data.tokenizer_files = shared.data.file = "";
    replicas.RequireSame(ConfigToml(shared), "another configuration");
    const Ended ended = Trainer(config, run, replicas, hooks).Run();
    replicas.OnFirst([&] {
      if (ended != Ended::kStopped) run->Finish(ended == Ended::kTarget ? "target reached" : "all steps taken");
    });
    return ended;
  } catch (const std::exception& error) {
    if (run != nullptr) run->Fail(ErrorMessage(error));
    throw;
  }
}

}  // namespace tra
