#include "tra/train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tra/eval/evaluate.h"
#include "tra/eval/scores.h"
#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/ops/error_message.h"
#include "tra/run/data.h"
#include "tra/run/files.h"
#include "tra/run/fingerprint.h"
#include "tra/run/initial_weights.h"
#include "tra/tasks/batch.h"
#include "tra/tasks/batch_tensors.h"
#include "tra/text/windows.h"
#include "tra/train/checkpoint.h"
#include "tra/train/metrics.h"
#include "tra/train/replicas/replicas.h"
#include "tra/train/schedule.h"
#include "tra/train/spikes.h"

namespace tra {
namespace {

// Holds the optimiser's groups, and the names of their parameters in the same order.
struct Parameters {
  std::vector<AdamW::Group> groups;
  std::vector<std::string> names;
};

Parameters GroupParameters(const Decoder& model, const TrainConfig& config) {
  Parameters all;
  all.groups.resize(2);
  all.groups[0].weight_decay = config.weight_decay;
  for (const bool decays : {true, false}) {
    for (const auto& each : model.named_parameters()) {
      if ((config.decay == Decay::kAll || each.value().dim() >= 2) != decays) continue;
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
        parameters_(GroupParameters(model_, config.train)),
        optimizer_(parameters_.groups, OptimizerOptions(config.train)),
        spikes_(config.train.spike) {
    bool restored = false;
    replicas_.OnFirst([&] { restored = Restore(); });
    replicas_.Watch(model_.parameters());
    ShareState(restored);
    model_.train();
    if (data_.IsText()) OpenTexts();
  }

  Ended Run() {
    const TrainConfig& train = config_.train;
    Introduce();
    resumed_at_ = state_.step;
    started_ = interval_started_ = Clock::now();
    while (state_.step < train.steps && !TargetReached()) {
      Step();
      const int64_t step = state_.step;
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

  // Says at once what is trained and with what: the first step may take a while.
  void Introduce() const {
    if (!hooks_.notice) return;
    const TrainConfig& train = config_.train;
    int64_t parameters = 0;
    for (const at::Tensor& each : model_.parameters()) parameters += each.numel();
    const int64_t tokens =
        MakeBatch(data_.Train(), static_cast<uint64_t>(state_.step * train.batch), train.batch).symbols;
    const auto counted = [](int64_t n, const std::string& what) {
      return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    std::string text = path_ + ": " + config_.model.attention + ", " + counted(parameters, "parameter") + "; ";
    if (replicas_.size() > 1) text += std::to_string(replicas_.size()) + " processes of ";
    text += counted(at::get_num_threads(), "thread") + " on " + replicas_.device().str() + "; ";
    text += counted(train.steps, "step") + " of " + counted(train.batch, "sequence") + ", about " +
            counted(tokens, "token") + " each";
    if (state_.step > 0) text += "; continues at step " + std::to_string(state_.step);
    hooks_.notice(text);
  }

  // Loads the newest checkpoint, or else makes the model that training begins with. Returns whether there was one.
  bool Restore() {
    Fingerprint made_with = {FingerprintOf(config_), data_.Checksums()};
    const auto found =
        LoadCheckpoint(path_, config_, made_with.data, model_, parameters_.names, optimizer_, hooks_.warning);
    if (found) {
      state_ = *found;
      WarnOfOtherBits();
      // What training began with is no longer read, but it stays on record.
      const auto initial = state_.made_with.data.find(kInitialWeightsSum);
      if (initial != state_.made_with.data.end()) made_with.data.insert(*initial);
    } else if (!config_.train.init_from.empty()) {
      const InitialWeights initial = LoadInitialWeights(config_.train.init_from, model_);
      made_with.data[kInitialWeightsSum] = initial.sha256;
      if (hooks_.notice) hooks_.notice("beginning with the weights of " + initial.file);
    }
    state_.made_with = std::move(made_with);
    state_.threads = at::get_num_threads();
    state_.processes = replicas_.size();
    metrics_ = std::make_unique<Metrics>(path_, state_.metrics_bytes, state_.events_bytes, config_, hooks_.warning);
    return found.has_value();
  }

  // A run has the same bits only with the same number of threads and processes.
  void WarnOfOtherBits() const {
    if (!hooks_.warning || state_.threads == 0) return;
    const auto warn = [&](const char* what, int64_t before, int64_t now) {
      if (before == now) return;
      hooks_.warning("another number of " + std::string(what) + ", " + std::to_string(now) + " instead of " +
                     std::to_string(before) + " up to step " + std::to_string(state_.step) +
                     ": results will differ in their last bits from those of a run that was never stopped");
    };
    warn("threads", state_.threads, at::get_num_threads());
    warn("processes", state_.processes, replicas_.size());
  }

  // Opens the texts now, so that a missing or empty one is not noticed only hours later.
  void OpenTexts() {
    for (const std::string& split : TextSplits(config_)) EvalWindowCount(data_.Text(split).Size(), 1, 1);
  }

  bool TargetReached() const { return config_.train.target > 0 && state_.target_hits >= config_.train.target_evals; }

  // Sends the state that the first process has loaded to the others, which may be on machines that cannot see the
  // checkpoints.
  void ShareState(bool restored) {
    struct {
      double restored = 0, step = 0, target_hits = 0, loss_mean = 0, tokens = 0;
    } shared;  // the other processes add 0
    if (replicas_.rank() == 0) {
      shared.restored = restored ? 1 : 0;
      shared.step = static_cast<double>(state_.step);
      shared.target_hits = static_cast<double>(state_.target_hits);
      shared.loss_mean = state_.loss_mean;
      shared.tokens = static_cast<double>(state_.tokens);
    }
    replicas_.SumFields(shared);
    if (replicas_.size() == 1 || shared.restored == 0) return;
    state_.step = static_cast<int64_t>(shared.step);
    state_.target_hits = static_cast<int64_t>(shared.target_hits);
    state_.loss_mean = shared.loss_mean;
    state_.tokens = static_cast<int64_t>(shared.tokens);
    if (replicas_.rank() != 0) {
      std::vector<AdamW::State> states;
      for (const AdamW::Group& group : parameters_.groups) {
        for (const at::Tensor& each : group.parameters) {
          states.push_back({state_.step, at::zeros_like(each), at::zeros_like(each)});
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
    const int64_t step = state_.step;
    const Replicas::Share share = replicas_.ShareOf(train.batch);
    const int64_t first = step * train.batch + share.first;
    Batch batch;
    if (share.count > 0) {
      batch = MakeBatch(data_.Train(), static_cast<uint64_t>(first), share.count, train.part_positions);
    }
    struct {
      double loss = 0, correct = 0, answers = 0, symbols = 0, stop_requests = 0;
    } sums;  // over the parts, then over the processes
    for (FlatBatch& part : batch.parts) {
      const BatchTensors view = ViewBatch(part, model_.Device());
      // No id occurs twice, so no two steps draw the same.
      const Pass pass{{train.seed, view.sequence_ids, view.cu_seqlens}};
      const CrossEntropySum sum = model_.Loss(view.tokens, view.targets, pass);
      if (&part == &batch.parts.back()) replicas_.BeginLastBackward();
      sum.loss.backward();
      sums.loss += sum.loss.item<double>();
      sums.correct += static_cast<double>(sum.correct);
    }
    replicas_.FinishGradients();
    sums.answers = static_cast<double>(batch.answers);
    sums.symbols = static_cast<double>(batch.symbols);
    sums.stop_requests = hooks_.stop && hooks_.stop() ? 1 : 0;
    replicas_.SumFields(sums);
    const auto symbols = static_cast<int64_t>(sums.symbols);
    const double loss = sums.loss / sums.answers;
    stop_requested_ = sums.stop_requests > 0;
    double scale = 1.0 / sums.answers;
    const double norm = optimizer_.GradNorm() * scale;
    RequireFinite(loss, norm);
    if (train.clip > 0 && norm > train.clip) scale *= train.clip / norm;
    const double lr = LearningRate(train, step);
    optimizer_.Step(lr, scale);
    optimizer_.ZeroGrad();

    ++state_.step;
    state_.tokens += symbols;
    interval_tokens_ += symbols;
    WatchForSpikes(loss);
    const bool logs = state_.step == 1 || state_.step % train.log_every == 0 || state_.step == train.steps;
    if (logs || state_.step == resumed_at_ + 1) Log(loss, sums.correct / sums.answers, lr, norm, logs);
  }

  // Returns "; ..." for the end of a message; empty in all processes but the first.
  std::string LastCheckpoint() const {
    if (replicas_.rank() != 0) return "";
    const std::vector<Checkpoint> saved = ListCheckpoints(path_);
    return saved.empty() ? "; no checkpoint has been saved yet"
                         : "; the last checkpoint before it is " + saved.front().path;
  }

  static constexpr char kRemedy[] = "; start another run with a lower train.lr, a longer train.warmup or train.clip=1";

  void RequireFinite(double loss, double norm) const {
    if (std::isfinite(loss) && std::isfinite(norm)) return;
    throw std::runtime_error("step " + std::to_string(state_.step + 1) + ": the loss is " + std::to_string(loss) +
                             ", the norm of its gradient " + std::to_string(norm) +
                             "; this step did not change the weights" + LastCheckpoint() + kRemedy);
  }

  void WatchForSpikes(double loss) {
    const double mean = state_.loss_mean;
    const bool spike = spikes_.Notice(state_.step, loss, state_.loss_mean);
    if (!spike || !hooks_.warning || replicas_.rank() != 0) return;
    hooks_.warning("step " + std::to_string(state_.step) + ": the loss jumped to " + std::to_string(loss) +
                   ", its mean was " + std::to_string(mean) + LastCheckpoint());
  }

  // Reports a step, and records it in the metrics if it is one of those that they are to have: the first step after a
  // resume, which is shown as a sign of life, would not be there in a run that was never stopped.
  void Log(double loss, double accuracy, double lr, double norm, bool record) {
    const auto now = Clock::now();
    const double interval = std::chrono::duration<double>(now - interval_started_).count();
    const double elapsed = std::chrono::duration<double>(now - started_).count();
    StepInfo info;
    info.step = state_.step;
    info.steps = config_.train.steps;
    info.loss = loss;
    info.accuracy = accuracy;
    info.lr = lr;
    info.grad_norm = norm;
    info.tokens_per_second = static_cast<double>(interval_tokens_) / interval;
    info.seconds_left = elapsed / static_cast<double>(state_.step - resumed_at_) *
                        static_cast<double>(config_.train.steps - state_.step);
    if (hooks_.logged) hooks_.logged(info);
    if (!record) return;
    if (metrics_)
      metrics_->Write(info.step, {{"train/loss", loss},
                                  {"train/accuracy", accuracy},
                                  {"train/lr", lr},
                                  {"train/grad_norm", norm},
                                  {"train/tokens", static_cast<double>(state_.tokens)},
                                  {"train/tokens_per_second", info.tokens_per_second}});
    interval_started_ = now;
    interval_tokens_ = 0;
  }

  void WriteRows(const std::vector<ResultRow>& rows) {
    Metrics::Values values;
    for (const ResultRow& row : rows) {
      std::string name = "eval/" + row.split;
      if (!row.group.empty()) name += "/" + row.group;
      if (row.window > 0) name += "/" + std::to_string(row.window);
      values.emplace_back(name + "/" + row.metric, row.value);
    }
    if (metrics_) metrics_->Write(state_.step, values);
    if (hooks_.evaluated) hooks_.evaluated(state_.step, rows);
  }

  // Returns options that share an evaluation among the processes.
  EvaluateOptions ShareEvaluation() const {
    EvaluateOptions options;
    options.share = replicas_.rank();
    options.shares = replicas_.size();
    options.sum = [this](std::vector<double>& values) { replicas_.Sum(values); };
    return options;
  }

  std::vector<ResultRow> Score(const EvaluateOptions& options) {
    try {
      return Evaluate(model_, data_, config_, options);
    } catch (const NotFinite& error) {
      throw std::runtime_error("after step " + std::to_string(state_.step) + ": " + error.what() + LastCheckpoint() +
                               kRemedy);
    }
  }

  void QuickEvaluation() {
    const auto began = Clock::now();
    EvaluateOptions options = ShareEvaluation();
    options.most = config_.eval.quick_examples;
    if (data_.IsText()) {  // not the test split, and only at the window of training
      options.text_split = "valid";
      options.windows = {config_.data.window};
    }
    const std::vector<ResultRow> rows = Score(options);
    const auto worst = WorstExactMatch(rows);
    const bool hit = config_.train.target > 0 && worst && *worst >= config_.train.target;
    state_.target_hits = hit ? state_.target_hits + 1 : 0;
    WriteRows(rows);
    interval_started_ += Clock::now() - began;  // does not count as training time
  }

  // Throws if a weight is not finite: a finite loss may still be followed by an update that is not.
  void RequireFiniteWeights() const {
    for (const auto& each : model_.named_parameters()) {
      if (at::isfinite(each.value()).all().item<bool>()) continue;
      throw std::runtime_error("step " + std::to_string(state_.step) + ": the weight " + each.key() +
                               " is no longer finite" + LastCheckpoint() + kRemedy);
    }
  }

  void Save() {
    RequireFiniteWeights();
    replicas_.OnFirst([this] {
      state_.metrics_bytes = metrics_->MetricsBytes();
      state_.events_bytes = metrics_->EventsBytes();
      SaveCheckpoint(path_, model_, parameters_.names, optimizer_, state_, config_.train.keep);
    });
  }

  // Scores the model and writes results.json. Returns false if it was stopped on request.
  bool EvaluateAtTheEnd() {
    if (hooks_.notice) hooks_.notice("scoring the model of step " + std::to_string(state_.step));
    EvaluateOptions options = ShareEvaluation();
    options.stop = hooks_.stop;
    std::vector<ResultRow> rows;
    try {
      rows = Score(options);
    } catch (const EvaluationStopped&) {
      return false;
    }
    WriteRows(rows);
    replicas_.OnFirst([&] {
      metrics_->Finish();
      WriteResults(run_files::In(path_, run_files::kResults), MakeResults(config_, data_, state_.step, rows));
    });
    return true;
  }

  const RunConfig config_;
  const std::string path_;  // only in the first process
  Replicas& replicas_;
  const TrainHooks hooks_;
  RunData data_;
  Decoder model_;
  Parameters parameters_;
  AdamW optimizer_;
  Spikes spikes_;
  TrainingState state_;
  std::unique_ptr<Metrics> metrics_;  // only in the first process
  bool stop_requested_ = false;       // by any process
  int64_t resumed_at_ = 0, interval_tokens_ = 0;
  Clock::time_point started_, interval_started_;
};

}  // namespace

Ended Train(const RunConfig& config, RunDirectory* run, Replicas& replicas, const TrainHooks& hooks) {
  try {
    RunConfig shared = WithoutPlaces(config);  // folders may have other names on other machines
    shared.train.init_from = "";
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
