#include "tra/inspect/inspected_run.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tra/base/names.h"
#include "tra/tasks/task.h"

namespace tra {
namespace {

void CheckIndex(const char* what, int64_t index, size_t count) {
  if (index >= 0 && index < static_cast<int64_t>(count)) return;
  throw std::invalid_argument("there is no " + std::string(what) + " " + std::to_string(index) +
                              (count == 1 ? "; there is only 0" : "; there are 0 to " + std::to_string(count - 1)));
}

void CheckTokens(const std::vector<int32_t>& tokens, const ModelConfig& config) {
  if (tokens.empty()) throw std::invalid_argument("there are no tokens to look at; give at least one");
  for (const int32_t token : tokens) {
    if (token < 0 || token >= config.vocabulary) {
      throw std::invalid_argument("token " + std::to_string(token) + " is not in the model's vocabulary of " +
                                  std::to_string(config.vocabulary));
    }
  }
  const std::optional<int64_t> longest = LongestSequence(config);
  if (longest && static_cast<int64_t>(tokens.size()) > *longest) {
    throw std::invalid_argument("there are " + std::to_string(tokens.size()) + " tokens, but this " + config.attention +
                                " model has positions for " + std::to_string(*longest) + "; give a shorter input");
  }
}

// Computes the most likely next token at every position; the logits [T,V] are made a part at a time, because those of a
// long text would not fit.
std::vector<Prediction> Predict(const at::Tensor& hidden, const at::Tensor& head) {
  constexpr int64_t kRows = 256;
  std::vector<Prediction> predictions;
  for (int64_t first = 0; first < hidden.size(0); first += kRows) {
    const at::Tensor logits =
        at::linear(hidden.narrow(0, first, std::min(kRows, hidden.size(0) - first)), head).to(at::kFloat);
    const auto [best, token] = at::softmax(logits, -1).cpu().max(-1);
    for (int64_t i = 0; i < best.size(0); ++i) {
      predictions.push_back({static_cast<int32_t>(token[i].item<int64_t>()), best[i].item<float>()});
    }
  }
  return predictions;
}

}  // namespace

const RecordedAttention& Inspection::Attention(const HeadId& head) const {
  CheckIndex("layer", head.layer, record.layers.size());
  const std::vector<RecordedAttention>& attentions = record.layers[static_cast<size_t>(head.layer)];
  CheckIndex("attention", head.attention, attentions.size());
  const RecordedAttention& attention = attentions[static_cast<size_t>(head.attention)];
  CheckIndex("head", head.head, static_cast<size_t>(attention.Heads()));
  return attention;
}

AttentionMatrix Inspection::Matrix(const HeadId& head, const MatrixPart& part, std::optional<float> rule_input) const {
  RecordedAttention attention = Attention(head);
  const auto length = static_cast<int64_t>(tokens.size());
  const int64_t last_query = part.last_query < 0 ? length : part.last_query;
  const int64_t last_key = part.last_key < 0 ? length : part.last_key;
  if (part.first_query < 0 || part.first_query > last_query || last_query > length || part.first_key < 0 ||
      part.first_key > last_key || last_key > length) {
    throw std::invalid_argument("queries " + std::to_string(part.first_query) + " to " + std::to_string(last_query) +
                                " and keys " + std::to_string(part.first_key) + " to " + std::to_string(last_key) +
                                " are not within " + std::to_string(length) + " tokens");
  }
  if (rule_input) {
    if (last_query - part.first_query != 1 || attention.inputs.rule != ScoreRule::kThreshold) {
      throw std::invalid_argument("only the gate of one query of an attention with a threshold can be changed");
    }
    at::Tensor changed = attention.inputs.rule_input.clone();
    changed[0][head.head][part.first_query] = *rule_input;
    attention.inputs.rule_input = changed;
  }
  AttentionMatrix matrix = attention.Rows(0, head.head, part);
  for (at::Tensor* each : {&matrix.state, &matrix.score, &matrix.position, &matrix.term, &matrix.logit, &matrix.weight,
                           &matrix.stopped_at, &matrix.unseen}) {
    *each = (*each)[0][0];
  }
  return matrix;
}

InspectedRun::InspectedRun(const std::string& path, at::Device device, Warning warning, std::optional<int64_t> step)
    : path_(path), warning_(std::move(warning)) {
  LoadedRun run = LoadRun(path, device, warning_, step);
  loaded_ = {std::move(run.model), std::move(run.config)};
  loaded_.model->eval();
  step_ = run.step;
  vocabulary_ = MakeVocabulary(loaded_, {"", ""});
}

const Task* InspectedRun::task() const {
  const std::string& name = config().data.task;
  return name == "text" || name == "jsonl" ? nullptr : &FindTask(name);
}

RunData& InspectedRun::Data() {
  if (data_ == nullptr) data_ = std::make_unique<RunData>(config(), warning_);
  return *data_;
}

std::vector<std::string> InspectedRun::Splits() {
  if (IsText()) return TextSplits(config());
  return task() != nullptr ? NamesIn(task()->splits) : Data().Splits();
}

const TokenFile& InspectedRun::Text(const std::string& split) {
  const std::vector<std::string> splits = Splits();
  if (std::find(splits.begin(), splits.end(), split) == splits.end()) {
    std::string names;
    for (const std::string& each : splits) names += (names.empty() ? "" : ", ") + each;
    throw std::invalid_argument("the run reads no split '" + split + "' of its text; it reads " + names);
  }
  return Data().Text(split);
}

std::optional<uint64_t> InspectedRun::Size(const std::string& split) {
  if (IsText()) return static_cast<uint64_t>(Text(split).Size() / Data().TrainLength());
  return Data().Eval(split)->Size();
}

Example InspectedRun::At(const std::string& split, uint64_t index, std::optional<int64_t> length) {
  if (!IsText()) {
    std::optional<Range> lengths;
    if (length) lengths = Range{*length, *length};
    const std::shared_ptr<const ExampleSource> examples = Data().Eval(split, lengths);
    const std::optional<uint64_t> size = examples->Size();
    if (size && index >= *size) {
      throw std::invalid_argument("split " + split + " has " + std::to_string(*size) +
                                  " examples; give a number below that");
    }
    return examples->At(index);
  }
  const TokenFile& text = Text(split);
  const int64_t size = length.value_or(Data().TrainLength());
  if (size < 1) {
    throw std::invalid_argument("a window of text must have at least 1 token, got " + std::to_string(size));
  }
  const int64_t windows = text.Size() / size;
  if (index >= static_cast<uint64_t>(windows)) {
    throw std::invalid_argument("split " + split + " has " + std::to_string(windows) + " windows of " +
                                std::to_string(size) + " tokens; give a number below that");
  }
  std::vector<int64_t> ids(static_cast<size_t>(size));
  text.Read(static_cast<int64_t>(index) * size, size, ids.data());
  Example example;
  for (size_t i = 0; i < ids.size(); ++i) example.Add(static_cast<int32_t>(ids[i]), i > 0);
  return example;
}

Inspection InspectedRun::Inspect(const std::vector<int32_t>& tokens) const {
  CheckTokens(tokens, loaded_.model->config);
  const c10::NoGradGuard no_grad;
  Inspection inspection;
  inspection.tokens = tokens;
  Pass pass;
  pass.record = &inspection.record;
  const at::Tensor ids = at::tensor(std::vector<int64_t>(tokens.begin(), tokens.end()), at::kLong);
  const at::Tensor hidden = loaded_.model->Hidden(ids.unsqueeze(0).to(loaded_.model->Device()), pass)[0];
  if (!at::isfinite(hidden).all().item<bool>()) {
    throw std::runtime_error("what the model computes is not finite; its weights are damaged or training diverged");
  }
  inspection.predictions = Predict(hidden, loaded_.model->Head());
  return inspection;
}

}  // namespace tra
