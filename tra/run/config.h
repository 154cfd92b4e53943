// What a run is: the model, the data, how it is trained and how it is scored. A TOML file, every key of which is
// documented once, in config_keys.cc.
#ifndef TRA_RUN_CONFIG_H_
#define TRA_RUN_CONFIG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tra/model/config.h"

namespace tra {

struct DataConfig {
  std::string task = "flipflop";  // a row of Tasks(), or "text"
  int64_t seed = -1;              // of training examples; -1: train.seed
  // Tasks: 0, or an empty list, leaves what the task and the split say.
  std::vector<int64_t> lengths;
  int64_t symbols = 0, pack = 0, offset = 0;
  std::string file;  // flipflop: lines to train on instead of generated examples
  // Text.
  std::string corpus, tokenizer = "bytes", tokenizer_files, cache;
  int64_t window = 128;
};

struct TrainConfig {
  uint64_t seed = 1;
  int64_t steps = 1000, batch = 64;
  double lr = 1e-3, final_lr = 0.0;  // final_lr is a fraction of lr
  int64_t warmup = 0;                // steps
  std::string schedule = "cosine";
  double weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  std::string decay = "all";
  double clip = 0.0;
  int64_t part_positions = 32768;
  int64_t log_every = 10, eval_every = 0, checkpoint_every = 500, keep = 2;
  double target = 0.0;
  int64_t target_evals = 1;
  double spike = 3.0;
};

struct EvalConfig {
  uint64_t seed = 0;
  std::vector<std::string> splits;  // empty: all of the task's but train
  int64_t examples = 1000;          // of a split, at the end
  int64_t quick_examples = 200;     // of a split, during training
  int64_t positions = 16384;
  // Text.
  std::string text_split = "test";
  std::vector<int64_t> windows = {128, 256, 512, 1024, 2048, 4096};
  int64_t stride = 0;  // 0: the window
};

struct RunConfig {
  std::string label;  // tells runs of the same attention apart in tables
  std::string preset = "mini";
  ModelConfig model;  // as far as numbers go; MakeModelConfig has the rest
  std::string block = "prenorm", dropout_on = "auto", qk_norm = "auto";
  DataConfig data;
  TrainConfig train;
  EvalConfig eval;
};

// A documented value of a configuration.
struct ConfigKey {
  std::string name;  // "train.lr"
  std::string doc;
  std::string range;                            // what it may be, in words
  std::function<void(const std::string&)> set;  // from a TOML value; throws std::invalid_argument naming the range
  std::function<std::string()> get;             // as a TOML value
};
// Bound to `config`: valid as long as it lives.
std::vector<ConfigKey> ConfigKeys(RunConfig& config);

// From TOML text and overrides such as "train.lr=1e-3"; strings in overrides need no quotes. A preset is applied before
// everything else, wherever it stands. Unknown keys and bad values throw std::invalid_argument with the nearest key or
// the range; `name` stands for the file.
RunConfig ParseConfig(const std::string& toml, const std::vector<std::string>& overrides, const std::string& name);
RunConfig ReadConfig(const std::string& path, const std::vector<std::string>& overrides = {});

// Every key with its value and its documentation. Reading it back gives the same configuration.
std::string ConfigToml(const RunConfig& config);

// The model of a run, for data of this vocabulary. Lengths of 0 in the configuration are those of the data: the longest
// sequence in training, and the longest that is scored. Throws std::invalid_argument.
ModelConfig MakeModelConfig(const RunConfig& config, int64_t vocabulary, int64_t train_length, int64_t longest);

}  // namespace tra

#endif  // TRA_RUN_CONFIG_H_
