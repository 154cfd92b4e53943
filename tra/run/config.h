// Describes a run: the model, the data, how it is trained and how it is scored. It is read from a TOML file, every key
// of which is documented in config_keys.cc.
#ifndef TRA_RUN_CONFIG_H_
#define TRA_RUN_CONFIG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tra/base/names.h"
#include "tra/model/config.h"

namespace tra {

struct DataConfig {
  std::string task = "flipflop";  // a row of Tasks(), "jsonl" or "text"
  int64_t seed = -1;              // seed of training examples; -1: train.seed
  // For tasks; 0 or an empty list stands for what the task and the split say.
  std::vector<int64_t> lengths;
  int64_t symbols = 0, pack = 0, offset = 0;
  std::string file;  // flipflop: lines to train on instead of generated examples
  // For jsonl.
  std::string folder;
  int64_t vocabulary = 0;  // 0: that of the file to train on
  // For text.
  std::string corpus, tokenizer = "bytes", tokenizer_files, cache;
  int64_t window = 128;
};

// Says how the learning rate changes after the warm-up.
enum class Schedule : uint8_t { kCosine, kConstant };
constexpr NamedValue<Schedule> kSchedules[] = {{"cosine", Schedule::kCosine}, {"constant", Schedule::kConstant}};

// Says which parameters weight decay applies to: all, as in torch's AdamW, or those with two dimensions or more.
enum class Decay : uint8_t { kAll, kMatrices };
constexpr NamedValue<Decay> kDecays[] = {{"all", Decay::kAll}, {"matrices", Decay::kMatrices}};

struct TrainConfig {
  uint64_t seed = 1;
  std::string init_from;  // a run or a file whose weights training begins with; empty: drawn from the seed
  int64_t steps = 1000, batch = 64;
  // How often `steps` was changed by --steps after training had begun: [step, steps before], in the order of steps.
  std::vector<std::vector<int64_t>> extended;
  double lr = 1e-3, final_lr = 0.0;  // final_lr is a fraction of lr
  int64_t warmup = 0;                // steps
  Schedule schedule = Schedule::kCosine;
  double weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  Decay decay = Decay::kAll;
  double clip = 0.0;
  int64_t part_positions = 32768;
  int64_t log_every = 10, eval_every = 0, checkpoint_every = 500, keep = 2;
  double target = 0.0;
  int64_t target_evals = 1;
  double spike = 3.0;
};

struct EvalConfig {
  uint64_t seed = 0;
  std::vector<std::string> splits;  // empty: all of the task's except train
  int64_t examples = 1000;          // per split, at the end
  int64_t quick_examples = 200;     // per split, during training
  int64_t positions = 16384;
  // For text.
  std::string text_split = "test";
  std::vector<int64_t> windows = {128, 256, 512, 1024, 2048, 4096};
  int64_t stride = 0;  // 0: the window's length
};

struct RunConfig {
  // 0: lengths that a configuration leaves out come from the data.
  RunConfig() { model.train_length = model.max_length = 0; }

  std::string label;  // tells runs of the same attention apart in tables
  std::string preset = "mini";
  ModelConfig model;  // without what only the data determine; see MakeModelConfig
  DataConfig data;
  TrainConfig train;
  EvalConfig eval;
};

// Returns the number of steps that the schedule reckoned with when it took this step.
int64_t StepsOfSchedule(const TrainConfig& config, int64_t step);

// Documents a value of a configuration, and reads and writes it.
struct ConfigKey {
  std::string name;  // "train.lr"
  std::string doc;
  std::string range;                            // what it may be, in words
  std::vector<std::string> choices;             // all that it may be, if those are names
  std::function<void(const std::string&)> set;  // from a TOML value; throws std::invalid_argument naming the range
  std::function<std::string()> get;             // as a TOML value
};
// Returns all keys. They are bound to `config` and valid as long as it lives.
std::vector<ConfigKey> ConfigKeys(RunConfig& config);

// Reads a configuration from TOML text and overrides such as "train.lr=1e-3"; strings in overrides need no quotes. A
// preset is applied before everything else, wherever it stands. Unknown keys and bad values throw std::invalid_argument
// with the nearest key or the range; `name` stands for the file.
RunConfig ParseConfig(const std::string& toml, const std::vector<std::string>& overrides, const std::string& name);
RunConfig ReadConfig(const std::string& path, const std::vector<std::string>& overrides = {});

// Returns TOML text with every key, its value and its documentation. Reading it back gives the same configuration.
std::string ConfigToml(const RunConfig& config);

// Returns the model of a run, for data of this vocabulary. Lengths of 0 in the configuration become those of the data:
// the longest sequence of training, and the longest that is trained on or scored (for label, twice that).
ModelConfig MakeModelConfig(const RunConfig& config, int64_t vocabulary, int64_t train_length, int64_t longest);

}  // namespace tra

#endif  // TRA_RUN_CONFIG_H_
