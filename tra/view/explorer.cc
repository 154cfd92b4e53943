#include "tra/view/explorer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "tra/base/json.h"
#include "tra/base/streams.h"
#include "tra/kernels/attention/rules.h"
#include "tra/ops/error_message.h"
#include "tra/report/tables.h"
#include "tra/run/find_runs.h"
#include "tra/tasks/random.h"
#include "tra/tasks/task.h"
#include "tra/view/pooled.h"
#include "tra/view/request.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

using Json = ViewJson;

constexpr size_t kLoadedRuns = 4, kInspections = 6;

std::string Text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

ViewAnswer Refusal(int status, const std::string& why) {
  ViewAnswer answer;
  answer.status = status;
  answer.body = Text({{"error", why}});
  return answer;
}

ViewAnswer Found(const Json& json) {
  ViewAnswer answer;
  answer.body = Text(json);
  return answer;
}

Json Texts(const Vocabulary& vocabulary, const std::vector<int32_t>& tokens) {
  Json texts = Json::array();
  for (const int32_t token : tokens) texts.push_back(vocabulary.Word(token));
  return texts;
}

// Says what must follow each position: the next token where it is an answer, else -1.
Json Targets(const Example& example) {
  Json targets = Json::array();
  for (size_t i = 0; i < example.tokens.size(); ++i) {
    const bool asked = i + 1 < example.tokens.size() && example.supervised[i + 1] != 0;
    targets.push_back(asked ? example.tokens[i + 1] : -1);
  }
  return targets;
}

// Lists pairs of an answer's query and a key that it has to look at.
Json EvidenceOf(const Task* task, const Example& example) {
  Json pairs = Json::array();
  if (task == nullptr) return pairs;
  for (const Evidence& evidence : task->kind.evidence(example)) {
    for (const size_t key : evidence.keys) pairs.push_back({evidence.query, key});
  }
  return pairs;
}

Json Described(const InspectedRun& run, const Example& example, const Task* task) {
  return {{"tokens", example.tokens},
          {"texts", Texts(run.vocabulary(), example.tokens)},
          {"targets", Targets(example)},
          {"evidence", EvidenceOf(task, example)}};
}

template <typename T>
Json ListOf(const at::Tensor& row) {
  const at::Tensor values = row.contiguous();
  return std::vector<T>(values.data_ptr<T>(), values.data_ptr<T>() + values.numel());
}

struct Layer {
  const char* name;
  at::Tensor AttentionMatrix::*values;
};
constexpr Layer kLayers[] = {{"score", &AttentionMatrix::score},
                             {"term", &AttentionMatrix::term},
                             {"logit", &AttentionMatrix::logit},
                             {"weight", &AttentionMatrix::weight},
                             {"position", &AttentionMatrix::position}};

}  // namespace

struct Explorer::Endpoint {
  const char *method, *path;
  ViewAnswer (Explorer::*answer)(const ViewRequest& asked);
};

const std::vector<Explorer::Endpoint>& Explorer::Endpoints() {
  static const std::vector<Endpoint> endpoints = {
      {"GET", "/api/runs", &Explorer::RunList},      {"POST", "/api/input", &Explorer::Input},
      {"POST", "/api/pass", &Explorer::Predictions}, {"POST", "/api/matrix", &Explorer::Matrix},
      {"POST", "/api/row", &Explorer::Row},          {"POST", "/api/stretch", &Explorer::Stretch},
  };
  return endpoints;
}

Explorer::Explorer(const std::vector<std::string>& folders, at::Device device, const ViewLimits& limits,
                   const Warning& warning)
    : device_(device), limits_(limits), warning_(warning) {
  for (const std::string& folder : folders) {
    for (const std::string& path : FindRuns({folder})) {
      // Names begin with the folder that was given, so that they say which is which.
      const fs::path found = fs::canonical(path);
      const fs::path given = fs::is_directory(folder) ? fs::canonical(folder) : found.parent_path();  // else a sweep
      const fs::path below = found.lexically_relative(given);
      const std::string name = below == "." ? given.filename().string() : (given.filename() / below).string();
      const bool known = std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) { return run.folder == found; });
      const bool taken = std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) { return run.name == name; });
      if (!known) runs_.push_back({found, taken ? found.string() : name});
    }
  }
  for (size_t id = 0; id < runs_.size(); ++id) List(runs_[id], id);
}

void Explorer::List(Run& run, size_t id) {
  Json listed = {{"id", id}, {"name", run.name}};
  try {
    InspectedRun& opened = Load(id);
    const ModelConfig& config = opened.model().config;
    const Inspection one = opened.Inspect({config.vocabulary > 1 ? 1 : 0});
    const std::vector<RecordedAttention>& attentions = one.record.layers.at(0);
    const std::optional<int64_t> longest = LongestSequence(config);
    const Json about = {{"attention", config.attention},
                        {"title", Column{config.attention, opened.config().label}.Title()},
                        {"task", nullptr},
                        {"step", opened.step()},
                        {"layers", config.layers},
                        {"heads", attentions[0].Heads()},
                        {"parameters", opened.model().ParameterCount()},
                        {"longest", nullptr},
                        {"attentions", attentions.size()},
                        {"rule", InfoOf(attentions[0].inputs.rule).name},
                        {"splits", Json::array()},
                        {"symbols", nullptr},
                        {"separator", opened.vocabulary().Separator()},
                        {"stretches", false},
                        {"lengths", nullptr},
                        {"error", nullptr}};
    listed.update(about);
    if (longest) listed["longest"] = *longest;
    for (const std::string& split : opened.Splits()) listed["splits"].push_back(split);
    if (!opened.IsText()) {
      listed["task"] = TaskName(opened.config().data);
      Json symbols = Json::array();
      for (int64_t i = 0; i < config.vocabulary; ++i) {
        symbols.push_back(opened.vocabulary().Word(static_cast<int32_t>(i)));
      }
      listed["symbols"] = symbols;
    }
    if (const Task* task = opened.task()) {
      listed["stretches"] = task->kind.stretch != nullptr;
      const DataConfig& data = opened.config().data;
      const Range lengths = task->kind.lengths(data.symbols > 0 ? data.symbols : task->symbols);
      listed["lengths"] = {lengths.low, lengths.high};
    }
  } catch (const std::exception& error) {
    run.error = ErrorMessage(error);
    listed["error"] = run.error;
  }
  run.listed = Text(listed);
}

size_t Explorer::Shown() const {
  return static_cast<size_t>(
      std::count_if(runs_.begin(), runs_.end(), [](const Run& run) { return run.error.empty(); }));
}

InspectedRun& Explorer::Load(size_t id) {
  const auto found = std::find_if(loaded_.begin(), loaded_.end(), [&](const auto& each) { return each.first == id; });
  if (found != loaded_.end()) {
    loaded_.splice(loaded_.begin(), loaded_, found);
  } else {
    loaded_.emplace_front(id, std::make_unique<InspectedRun>(runs_[id].folder, device_, warning_));
    if (loaded_.size() > kLoadedRuns) loaded_.pop_back();
  }
  return *loaded_.front().second;
}

size_t Explorer::RunOf(const ViewRequest& asked) const {
  const auto id = static_cast<size_t>(asked.Integer("run", 0, static_cast<int64_t>(runs_.size()) - 1));
  if (!runs_[id].error.empty()) throw std::invalid_argument(runs_[id].error);
  return id;
}

const Inspection& Explorer::Inspect(const ViewRequest& asked) {
  const size_t run = RunOf(asked);
  const std::vector<int32_t> tokens = asked.Tokens();
  const auto found = std::find_if(inspected_.begin(), inspected_.end(),
                                  [&](const auto& each) { return each.first == run && each.second.tokens == tokens; });
  if (found != inspected_.end()) {
    inspected_.splice(inspected_.begin(), inspected_, found);
  } else {
    inspected_.emplace_front(run, Load(run).Inspect(tokens));
    if (inspected_.size() > kInspections) inspected_.pop_back();
  }
  return inspected_.front().second;
}

ViewAnswer Explorer::RunList(const ViewRequest& /*asked*/) {
  Json runs = Json::array();
  for (const Run& run : runs_) runs.push_back(ParseJson<Json>(run.listed));
  return Found({{"runs", runs}, {"limits", {{"tokens", limits_.tokens}, {"cells", limits_.cells}}}});
}

ViewAnswer Explorer::Input(const ViewRequest& asked) {
  InspectedRun& run = Load(RunOf(asked));
  if (!asked.Has("text")) {
    const Example example = asked.ExampleOf(run);
    asked.CheckLength(example.tokens.size());
    return Found(Described(run, example, run.task()));
  }
  Example typed;
  for (const int32_t token : run.vocabulary().Read(asked.String("text"))) typed.Add(token);
  asked.CheckLength(typed.tokens.size());
  return Found(Described(run, typed, nullptr));  // what is typed need not be an example of the task
}

ViewAnswer Explorer::Stretch(const ViewRequest& asked) {
  InspectedRun& run = Load(RunOf(asked));
  const Task* task = run.task();
  if (task == nullptr || task->kind.stretch == nullptr) {
    throw std::invalid_argument("every token of its examples matters, so none can be stretched");
  }
  const Example example = asked.ExampleOf(run);
  const int64_t factor = asked.Integer("factor", 1, 64);
  asked.CheckLength(example.tokens.size() * static_cast<size_t>(factor));
  const int64_t symbols = run.config().data.symbols > 0 ? run.config().data.symbols : task->symbols;
  Random random(run.config().eval.seed, FirstOf(Stream::kInsertions), asked.Index());
  const std::optional<Stretched> stretched = task->kind.stretch(example, factor, symbols, random);
  if (!stretched)
    throw std::invalid_argument("the task has no example that is " + std::to_string(factor) + " times as long");
  asked.CheckLength(stretched->example.tokens.size());
  Json described = Described(run, stretched->example, task);
  std::vector<int64_t> from(stretched->example.tokens.size(), -1);
  for (size_t i = 0; i < stretched->places.size(); ++i) from[stretched->places[i]] = static_cast<int64_t>(i);
  described["from"] = from;
  return Found(described);
}

ViewAnswer Explorer::Predictions(const ViewRequest& asked) {
  const Inspection& inspection = Inspect(asked);
  const Vocabulary& vocabulary = Load(RunOf(asked)).vocabulary();
  Json predictions = Json::array();
  for (const Prediction& each : inspection.predictions) {
    predictions.push_back(
        {{"id", each.token}, {"text", vocabulary.Word(each.token)}, {"probability", each.probability}});
  }
  return Found({{"predictions", predictions}});
}

ViewAnswer Explorer::Matrix(const ViewRequest& asked) {
  const Inspection& inspection = Inspect(asked);
  const HeadId head = asked.Head();
  const std::string what = asked.String("what");
  const auto* layer =
      std::find_if(std::begin(kLayers), std::end(kLayers), [&](const Layer& each) { return each.name == what; });
  if (layer == std::end(kLayers)) asked.Fail("what", "must be score, term, logit, weight or position");
  const auto length = static_cast<int64_t>(inspection.tokens.size());
  const auto [first_query, last_query] = asked.Part("queries", length);
  const auto [first_key, last_key] = asked.Part("keys", length);
  const int64_t pool = asked.Integer("pool", 1, limits_.tokens, 1);
  const int64_t rows = (last_query - first_query + pool - 1) / pool;
  const int64_t columns = (last_key - first_key + pool - 1) / pool;
  if (rows * columns > limits_.cells) {
    asked.Fail("queries and keys", "ask for " + std::to_string(rows * columns) + " cells; the limit is " +
                                       std::to_string(limits_.cells) + ": ask for a smaller part or a larger pool");
  }
  // The weights of a row depend on all of its keys.
  const int64_t work = (last_query - first_query) * last_query;
  if (work > limits_.work) {
    asked.Fail("queries and keys", "take " + std::to_string(work) + " cells to compute; the limit is " +
                                       std::to_string(limits_.work) + ": ask for fewer queries");
  }
  constexpr int64_t kBlock = 64;  // rows that are computed at a time, to bound memory
  Pooled pooled(rows, columns);
  for (int64_t first = first_query; first < last_query; first += kBlock) {
    const int64_t last = std::min(first + kBlock, last_query);
    const AttentionMatrix part = inspection.Matrix(head, {first, last, first_key, last_key});
    const at::Tensor values = (part.*layer->values).contiguous(), states = part.state.contiguous();
    const auto* value = values.data_ptr<float>();
    const auto* state = states.data_ptr<uint8_t>();
    for (int64_t query = first; query < last; ++query) {
      for (int64_t key = first_key; key < last_key; ++key) {
        pooled.Add((query - first_query) / pool, (key - first_key) / pool, *state++, *value++);
      }
    }
  }
  ViewAnswer answer;
  answer.type = "application/octet-stream";
  answer.headers = {{"X-Rows", std::to_string(rows)}, {"X-Columns", std::to_string(columns)}};
  answer.body.assign(reinterpret_cast<const char*>(pooled.values.data()), pooled.values.size() * sizeof(float));
  answer.body.append(reinterpret_cast<const char*>(pooled.states.data()), pooled.states.size());
  return answer;
}

ViewAnswer Explorer::Row(const ViewRequest& asked) {
  const Inspection& inspection = Inspect(asked);
  const HeadId head = asked.Head();
  const int64_t query = asked.Integer("query", 0, static_cast<int64_t>(inspection.tokens.size()) - 1);
  const std::optional<float> log_gate = asked.LogGate();
  const RecordedAttention& attention = inspection.Attention(head);
  Json own = nullptr;
  if (attention.inputs.rule == ScoreRule::kThreshold) {
    own = attention.inputs.rule_input[0][head.head][query].item<float>();
  }
  const AttentionMatrix row = inspection.Matrix(head, {query, query + 1, 0, query + 1}, log_gate);
  return Found({{"log_gate", log_gate ? Json(*log_gate) : own},
                {"model_log_gate", own},
                {"stopped_at", row.stopped_at[0].item<int32_t>()},
                {"unseen", row.unseen[0].item<float>()},
                {"state", ListOf<uint8_t>(row.state[0])},
                {"score", ListOf<float>(row.score[0])},
                {"position", ListOf<float>(row.position[0])},
                {"term", ListOf<float>(row.term[0])},
                {"logit", ListOf<float>(row.logit[0])},
                {"weight", ListOf<float>(row.weight[0])}});
}

ViewAnswer Explorer::Answer(const std::string& method, const std::string& path, const std::string& body) {
  for (const Endpoint& endpoint : Endpoints()) {
    if (endpoint.path != path) continue;
    if (endpoint.method != method) return Refusal(405, path + " takes " + endpoint.method);
    Json json = Json::object();
    if (method == "POST") {
      json = ParseJsonIfAny<Json>(body);
      if (!json.is_object()) return Refusal(400, "the request is not a JSON object");
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
      return (this->*endpoint.answer)({std::move(json), limits_.tokens});
    } catch (const std::exception& error) {
      return Refusal(IsBadInput(error) ? 400 : 500, ErrorMessage(error));
    }
  }
  return Refusal(404, "there is nothing at " + path + "; the requests are described in web/API.md");
}

}  // namespace tra
