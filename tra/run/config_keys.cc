// Defines every key of a configuration: its name, its place in RunConfig, its range and what it means.
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "tra/base/names.h"
#include "tra/base/text.h"
#include "tra/model/attention/variants.h"
#include "tra/run/config.h"
#include "tra/run/parse_toml.h"
#include "tra/run/toml_text.h"
#include "tra/tasks/task.h"
#include "tra/text/corpus.h"
#include "tra/text/tokenizers.h"

namespace tra {
namespace {

// Wrap, Shown and Read convert the types that a key may have from and to TOML text.
toml::table Wrap(const std::string& value) { return ParseToml("x = " + value, "a value"); }

std::string Shown(int64_t value) { return std::to_string(value); }
std::string Shown(uint64_t value) { return std::to_string(value); }
std::string Shown(const std::string& value) { return TomlText(value); }
std::string Shown(double value) { return TomlText(value); }
template <typename T>
std::string Shown(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& each : values) text += (text.size() > 1 ? ", " : "") + Shown(each);
  return text + "]";
}

bool Read(const toml::node& node, int64_t& value) {
  if (!node.is_integer()) return false;
  value = *node.value<int64_t>();
  return true;
}
bool Read(const toml::node& node, uint64_t& value) {
  int64_t signed_value = -1;
  if (!Read(node, signed_value) || signed_value < 0) return false;
  value = static_cast<uint64_t>(signed_value);
  return true;
}
bool Read(const toml::node& node, double& value) {
  if (!node.is_number()) return false;  // 1 is as good as 1.0
  value = *node.value<double>();
  return std::isfinite(value);
}
bool Read(const toml::node& node, std::string& value) {
  if (!node.is_string()) return false;
  value = *node.value<std::string>();
  return true;
}
template <typename T>
bool Read(const toml::node& node, std::vector<T>& values) {
  if (!node.is_array()) return false;
  std::vector<T> read;
  for (const toml::node& each : *node.as_array()) {
    T value{};
    if (!Read(each, value)) return false;
    read.push_back(value);
  }
  values = std::move(read);
  return true;
}

class Keys {
 public:
  std::vector<ConfigKey> all;

  // Adds a key whose value must satisfy `allowed`.
  template <typename T, typename Allowed>
  void Add(const std::string& name, T& value, const std::string& range, const std::string& doc,
           const Allowed& allowed) {
    all.push_back({name,
                   doc,
                   range,
                   {},
                   [name, &value, range, allowed](const std::string& text) {
                     const toml::table table = Wrap(text);
                     T read{};
                     if (!Read(*table.get("x"), read) || !allowed(read)) {
                       throw std::invalid_argument(name + " must be " + range + ", got " + Shortened(text, 200));
                     }
                     value = std::move(read);
                   },
                   [&value] { return Shown(value); }});
  }

  void Integer(const std::string& name, int64_t& value, int64_t low, int64_t high, const std::string& doc) {
    Add(name, value, "an integer from " + std::to_string(low) + " to " + std::to_string(high), doc,
        [low, high](int64_t v) { return v >= low && v <= high; });
  }
  void Seed(const std::string& name, uint64_t& value, const std::string& doc) {
    Add(name, value, "an integer of at least 0", doc, [](uint64_t) { return true; });
  }
  // Adds a number in [low, high); an infinite `high` means that there is no upper limit.
  void Number(const std::string& name, double& value, double low, double high, const std::string& doc) {
    const std::string range =
        std::isinf(high) ? "a number of at least " + nlohmann::json(low).dump()
                         : "a number in [" + nlohmann::json(low).dump() + ", " + nlohmann::json(high).dump() + ")";
    Add(name, value, range, doc, [low, high](double v) { return v >= low && v < high; });
  }
  void Share(const std::string& name, double& value, const std::string& doc) {
    Add(name, value, "a number from 0 to 1", doc, [](double v) { return v >= 0 && v <= 1; });
  }
  void Text(const std::string& name, std::string& value, const std::string& doc) {
    Add(name, value, "a string", doc, [](const std::string&) { return true; });
  }
  // Adds a string that must be one of `choices`.
  void Choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
              const std::string& doc) {
    const std::string range = RangeOf(choices);
    Add(name, value, range, doc, [name, choices, range](const std::string& v) {
      RequireChoice(name, v, choices, range);
      return true;
    });
    all.back().choices = choices;
  }
  // Adds a value that has a name in a table. An optional value may also be "auto", which means that it is not set.
  template <typename T, typename Table>
  void Named(const std::string& name, T& value, const Table& table, const std::string& doc) {
    constexpr bool kOptional = std::is_same_v<T, std::optional<std::decay_t<decltype(std::begin(table)->value)>>>;
    std::vector<std::string> choices = NamesIn(table);
    if (kOptional) choices.insert(choices.begin(), "auto");
    const std::string range = RangeOf(choices);
    const auto set = [name, &value, &table, choices, range](const std::string& text) {
      const toml::table wrapped = Wrap(text);
      std::string read;
      if (!Read(*wrapped.get("x"), read))
        throw std::invalid_argument(name + " must be " + range + ", got " + Shortened(text, 200));
      RequireChoice(name, read, choices, range);
      if constexpr (kOptional) {
        value.reset();
        if (read == "auto") return;
      }
      value = FindNamed(name, read, table).value;
    };
    const auto get = [&value, &table] {
      if constexpr (kOptional) {
        return Shown(std::string(value ? NameOf(table, *value) : "auto"));
      } else {
        return Shown(std::string(NameOf(table, value)));
      }
    };
    all.push_back({name, doc, range, choices, set, get});
  }

 private:
  static std::string RangeOf(const std::vector<std::string>& choices) {
    std::string range = "one of ";
    for (const std::string& each : choices) range += (each == choices.front() ? "\"" : ", \"") + each + "\"";
    return range;
  }
  static void RequireChoice(const std::string& name, const std::string& value, const std::vector<std::string>& choices,
                            const std::string& range) {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
    throw std::invalid_argument(name + " must be " + range + ", got " + Shortened(Shown(value), 200) +
                                DidYouMean(value, choices));
  }
};

std::vector<std::string> With(std::vector<std::string> names, const char* more) {
  names.emplace_back(more);
  return names;
}

// Results have one row for each split and window, so that none may be scored twice.
template <typename T>
bool AllDiffer(const std::vector<T>& values) {
  return std::set<T>(values.begin(), values.end()).size() == values.size();
}

constexpr NamedValue<bool> kSwitch[] = {{"true", true}, {"false", false}};
// More than any machine gets done, and little enough for products of two to fit into 64 bits.
constexpr int64_t kMany = 1'000'000'000;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

void AddModelKeys(RunConfig& config, Keys& keys) {
  ModelConfig& model = config.model;
  keys.Choice("model.preset", config.preset, With(NamesIn(kModelSizes), "custom"),
              "mini: 4 layers, 4 heads, width 256; medium: 8, 8, 512; keys below change single values");
  keys.Choice("model.attention", model.attention, NamesIn(Variants()), "see tra list");
  keys.Integer("model.layers", model.layers, 1, kMostLayers, "blocks of attention and MLP");
  keys.Integer("model.heads", model.heads, 1, kMostHeads,
               "heads of attention; width must be a multiple of their number");
  keys.Integer("model.width", model.width, 1, kMostWidth, "channels of the residual stream");
  keys.Named("model.block", model.block, kBlocks, "wiring: as in the paper's text, or as in the authors' notebook");
  keys.Number("model.embedding_dropout", model.embedding_dropout, 0, 1, "");
  keys.Number("model.attention_dropout", model.attention_dropout, 0, 1, "");
  keys.Number("model.mlp_dropout", model.mlp_dropout, 0, 1, "");
  keys.Named("model.dropout_on", model.dropout_on, kDropoutModes,
             "what attention's dropout applies to; auto: logits for tra, weights elsewhere");
  keys.Named("model.qk_norm", model.qk_norm, kSwitch,
             "whether queries and keys are normalised; auto: on for tra, off elsewhere");
  keys.Integer("model.train_length", model.train_length, 0, kMostPositions,
               "rel: number of distances that have their own bias; 0: the longest sequence of training");
  keys.Integer("model.max_length", model.max_length, 0, kMostPositions,
               "number of positions of ape, or of labels of label; 0: the longest sequence trained on or scored, for "
               "label twice that");
  keys.Number("model.rope_theta", model.rope_theta, 1e-6, kUnbounded, "base of the rotation angles of rope and diff");
  keys.Integer("model.cope_positions", model.cope_positions, 2, static_cast<int64_t>(kMaxTable),
               "number of learned positions of cope");
  keys.Number("model.stop_eps", model.stop_eps, -1, 1,
              "tra: attention weight that the early stop may miss; -1: stop only where no bit changes");
}

void AddDataKeys(DataConfig& data, Keys& keys) {
  keys.Choice("data.task", data.task, With(With(NamesIn(Tasks()), "jsonl"), "text"),
              "see tra list; jsonl: examples of one's own in data.folder; text: language modelling on data.corpus");
  keys.Integer("data.seed", data.seed, -1, INT64_MAX, "seed of training examples; -1: train.seed");
  keys.Add("data.lengths", data.lengths, "[] or [low, high]", "lengths of training strings; []: those of the task",
           [](const std::vector<int64_t>& v) { return v.empty() || (v.size() == 2 && v[0] <= v[1]); });
  keys.Integer("data.symbols", data.symbols, 0, 1 << 20, "number of symbols to draw from; 0: that of the task");
  keys.Integer("data.pack", data.pack, 0, kMostPositions,
               "fill training sequences of this many symbols with examples; 0: do not");
  keys.Integer("data.offset", data.offset, 0, kMostPositions, "put up to this many pads before a training sequence");
  keys.Text("data.file", data.file,
            "flipflop: train on the lines of this file instead of generated examples (see tra data import)");
  keys.Text("data.folder", data.folder, "jsonl: folder with train.jsonl, and a file for each split to score");
  keys.Integer("data.vocabulary", data.vocabulary, 0, 1 << 20,
               "jsonl: number of tokens; 0: those that the head of train.jsonl names, or that its examples have");
  keys.Text("data.corpus", data.corpus,
            "text: folder with train, valid and test texts; or one text, which is divided into these");
  keys.Choice("data.tokenizer", data.tokenizer, NamesIn(TokenizerKinds()), "text: see tra tokenize");
  keys.Text("data.tokenizer_files", data.tokenizer_files, "text: folder with encoder.json and vocab.bpe");
  keys.Text("data.cache", data.cache, "text: folder for tokenised texts; empty: $TRA_CACHE, else ~/.cache/tra");
  keys.Integer("data.window", data.window, 1, kMostPositions, "text: tokens per training window");
}

void AddTrainKeys(TrainConfig& train, Keys& keys) {
  keys.Seed("train.seed", train.seed,
            "seed of initial weights, dropout, labels and, unless data.seed is set, of the examples");
  keys.Text("train.init_from", train.init_from,
            "run or .safetensors file whose weights training begins with; empty: drawn from the seed");
  keys.Integer("train.steps", train.steps, 1, kMany, "");
  keys.Add("train.extended", train.extended, "[] or [[step, steps before], ...] with growing steps",
           "written by --steps: at which step the number of steps was changed, and what it was before",
           [](const std::vector<std::vector<int64_t>>& v) {
             int64_t last = -1;
             return std::all_of(v.begin(), v.end(), [&last](const std::vector<int64_t>& change) {
               const bool right = change.size() == 2 && change[0] > last && change[1] >= 1;
               if (right) last = change[0];
               return right;
             });
           });
  keys.Integer("train.batch", train.batch, 1, kMany, "examples, or windows of text, per step");
  keys.Number("train.lr", train.lr, 0, kUnbounded, "highest learning rate of AdamW");
  keys.Integer("train.warmup", train.warmup, 0, kMany, "steps over which the rate grows linearly to lr");
  keys.Named("train.schedule", train.schedule, kSchedules, "how the rate changes after the warm-up");
  keys.Share("train.final_lr", train.final_lr, "rate at the end of the cosine, as a fraction of lr");
  keys.Number("train.weight_decay", train.weight_decay, 0, kUnbounded, "of AdamW");
  keys.Named("train.decay", train.decay, kDecays,
             "which weights decay: all, as in torch's AdamW, or only those with two dimensions or more");
  keys.Number("train.beta1", train.beta1, 0, 1, "of AdamW");
  keys.Number("train.beta2", train.beta2, 0, 1, "of AdamW");
  keys.Number("train.eps", train.eps, 0, kUnbounded, "of AdamW");
  keys.Number("train.clip", train.clip, 0, kUnbounded, "highest norm of the gradient; 0: no clipping");
  keys.Integer("train.part_positions", train.part_positions, 1, kMany,
               "most positions computed at once, to limit memory");
  keys.Integer("train.log_every", train.log_every, 1, kMany, "steps between lines of metrics.jsonl");
  keys.Integer("train.eval_every", train.eval_every, 0, kMany, "steps between quick evaluations; 0: only at the end");
  keys.Integer("train.checkpoint_every", train.checkpoint_every, 1, kMany, "steps between checkpoints");
  keys.Integer("train.keep", train.keep, 1, kMany, "number of newest checkpoints to keep");
  keys.Share(
      "train.target", train.target,
      "end early when exact match on every split reaches this (0..1) at target_evals quick evaluations in a row; "
      "0: never");
  keys.Integer("train.target_evals", train.target_evals, 1, kMany, "quick evaluations in a row that must reach target");
  keys.Number("train.spike", train.spike, 0, kUnbounded,
              "warn if the loss is this many times its running mean, and 0.1 above it; 0: never");
}

void AddEvalKeys(EvalConfig& eval, Keys& keys) {
  keys.Seed("eval.seed", eval.seed,
            "seed of the examples; the same for all runs, so that their scores can be compared");
  keys.Add("eval.splits", eval.splits, "a list of splits, none of them twice",
           "splits to score; []: all of the task's except train", &AllDiffer<std::string>);
  keys.Integer("eval.examples", eval.examples, 1, kMany, "examples per split, at the end");
  keys.Integer("eval.quick_examples", eval.quick_examples, 1, kMany,
               "examples per split, or windows of text, during training");
  keys.Integer("eval.positions", eval.positions, 1, kMany, "most positions computed at once, to limit memory");
  keys.Choice("eval.text_split", eval.text_split, CorpusSplits(), "text: the split to score at the end");
  keys.Add("eval.windows", eval.windows,
           "a list of lengths from 1 to " + std::to_string(kMostPositions) + ", none of them twice",
           "text: lengths of the windows to score", [](const std::vector<int64_t>& v) {
             return !v.empty() && AllDiffer(v) &&
                    std::all_of(v.begin(), v.end(), [](int64_t w) { return w >= 1 && w <= kMostPositions; });
           });
  keys.Integer("eval.stride", eval.stride, 0, kMostPositions,
               "text: tokens between the starts of windows; 0: the length of a window, so that none overlap");
}

}  // namespace

std::vector<ConfigKey> ConfigKeys(RunConfig& config) {
  Keys keys;
  keys.Add("label", config.label, "a line of text without control characters",
           "tells runs of the same attention apart in tables", [](const std::string& v) { return !HasControls(v); });
  AddModelKeys(config, keys);
  AddDataKeys(config.data, keys);
  AddTrainKeys(config.train, keys);
  AddEvalKeys(config.eval, keys);
  return keys.all;
}

}  // namespace tra
