#include "tra/run/data.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tra/base/checksum.h"
#include "tra/base/input_file.h"
#include "tra/model/attention/variants.h"
#include "tra/tasks/flipflop_lines.h"
#include "tra/tasks/task.h"
#include "tra/text/corpus.h"
#include "tra/text/token_cache.h"
#include "tra/text/tokenizers.h"
#include "tra/text/windows.h"

namespace tra {
namespace {

uint64_t DataSeed(const RunConfig& config) {
  return config.data.seed >= 0 ? static_cast<uint64_t>(config.data.seed) : config.train.seed;
}

TaskOptions TrainOptions(const DataConfig& data) {
  TaskOptions options;
  if (!data.lengths.empty()) options.lengths = Range{data.lengths[0], data.lengths[1]};
  if (data.symbols > 0) options.symbols = data.symbols;
  options.pack = data.pack;
  options.offset = data.offset;
  return options;
}

TaskOptions EvalOptions(const DataConfig& data, std::optional<Range> lengths) {
  TaskOptions options;
  options.lengths = lengths;
  if (data.symbols > 0) options.symbols = data.symbols;
  return options;
}

// Returns the number of positions that a model reads of the longest possible example.
int64_t LongestOf(const GeneratedExamples& examples) {
  TaskOptions options = examples.options();
  const int64_t pack = std::exchange(options.pack, 0), offset = std::exchange(options.offset, 0);
  options.lengths = Range{examples.recipe().lengths.high, examples.recipe().lengths.high};
  const GeneratedExamples longest(examples.task().name, examples.split().name, examples.seed(), options);
  return std::max(pack, static_cast<int64_t>(longest.At(0).tokens.size())) + offset - 1;
}

void RequireCorpus(const DataConfig& data) {
  if (!data.corpus.empty()) return;
  throw std::invalid_argument(
      "data.task \"text\" needs a folder with train, valid and test texts, or one text: --set data.corpus=FOLDER");
}

// Repeats the lines of a file without end.
class Repeated : public ExampleSource {
 public:
  explicit Repeated(const std::string& path) : lines_(path) {}
  Example At(uint64_t index) const override { return lines_.At(index % *lines_.Size()); }
  int64_t Longest() const { return static_cast<int64_t>(lines_.counts().longest) - 1; }

 private:
  FlipflopLines lines_;
};

}  // namespace

TextWindows::TextWindows(const TokenFile& tokens, int64_t length, uint64_t seed)
    : tokens_(tokens), length_(length), seed_(seed) {
  TrainWindowsPerEpoch(tokens.Size(), length);  // throws if the text is shorter than a window
}

Example TextWindows::At(uint64_t index) const {
  std::vector<int64_t> ids(static_cast<size_t>(length_) + 1);
  tokens_.Read(TrainWindow(tokens_.Size(), length_, seed_, static_cast<int64_t>(index)), length_ + 1, ids.data());
  Example example;
  example.tokens.assign(ids.begin(), ids.end());
  example.supervised.assign(ids.size(), 1);
  example.supervised[0] = 0;
  return example;
}

RunData::RunData(const RunConfig& config, Notice notice) : config_(config), notice_(std::move(notice)) {
  if (IsText()) {
    OpenText();
  } else if (config_.data.task == "jsonl") {
    OpenFolder();
  } else {
    OpenTask();
  }
}

void RunData::OpenTask() {
  const DataConfig& data = config_.data;
  task_ = &FindTask(data.task);
  auto generated = std::make_unique<GeneratedExamples>(data.task, "train", DataSeed(config_), TrainOptions(data));
  names_ = generated->names();
  groups_.assign(task_->kind.groups.begin(), task_->kind.groups.end());
  if (data.file.empty()) {
    train_length_ = LongestOf(*generated);
    train_ = std::move(generated);
  } else {
    if (data.task != "flipflop") {
      throw std::invalid_argument("data.file holds flip-flop lines; set data.task to \"flipflop\" or leave it empty");
    }
    auto lines = std::make_unique<Repeated>(data.file);
    train_length_ = lines->Longest();
    train_ = std::move(lines);
  }
  for (const std::string& split : EvalSplits()) {
    const GeneratedExamples examples(data.task, split, config_.eval.seed, EvalOptions(data, std::nullopt));
    longest_ = std::max(longest_, LongestOf(examples));
  }
}

void RunData::OpenFolder() {
  const DataConfig& data = config_.data;
  if (data.folder.empty()) {
    throw std::invalid_argument(
        "data.task \"jsonl\" needs a folder with train.jsonl and a file for each split to score: "
        "--set data.folder=FOLDER");
  }
  if (!data.lengths.empty() || data.symbols > 0 || data.pack > 0 || data.offset > 0) {
    throw std::invalid_argument(
        "data.lengths, data.symbols, data.pack and data.offset are for tasks whose examples are generated; leave them "
        "out for jsonl");
  }
  folder_ = std::make_unique<ExampleFolder>(data.folder, data.vocabulary);
  names_ = folder_->names();
  groups_ = folder_->groups();
  const auto examples = folder_->Split("train");
  train_length_ = examples->Longest() - 1;  // the last token is only predicted
  train_ = std::make_shared<ShuffledExamples>(examples, DataSeed(config_));
  for (const std::string& split : EvalSplits()) {
    longest_ = std::max(longest_, folder_->Split(split)->Longest() - 1);
  }
}

std::string TaskName(const DataConfig& data) {
  if (data.task != "jsonl") return data.task;
  const std::filesystem::path folder = std::filesystem::path(data.folder).lexically_normal();
  return "jsonl-" + (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

std::vector<std::string> TextSplits(const RunConfig& config) {
  std::vector<std::string> splits = {"train", config.eval.text_split};
  if (config.train.eval_every > 0) splits.emplace_back("valid");
  return splits;
}

void RunData::OpenText() {
  const DataConfig& data = config_.data;
  RequireCorpus(data);
  const std::string division = FindCorpus(data.corpus).division;
  if (notice_ && !division.empty()) notice_(division);
  tokenizer_ = MakeTokenizer(data.tokenizer, data.tokenizer_files);
  train_ = std::make_unique<TextWindows>(Text("train"), data.window, DataSeed(config_));
  train_length_ = data.window;
  longest_ = *std::max_element(config_.eval.windows.begin(), config_.eval.windows.end());
}

int64_t RunData::Vocabulary() const {
  return IsText() ? tokenizer_->Vocabulary() : static_cast<int64_t>(names_.size());
}

std::string RunData::TokenText(int32_t token) const {
  return IsText() ? std::string(tokenizer_->Bytes(token)) : names_.at(static_cast<size_t>(token));
}

std::vector<std::string> RunData::Splits() const {
  if (folder_) return folder_->splits();
  return task_ != nullptr ? NamesIn(task_->splits) : TextSplits(config_);
}

std::vector<std::string> RunData::EvalSplits() const {
  if (!config_.eval.splits.empty()) return config_.eval.splits;
  std::vector<std::string> splits = Splits();
  if (folder_ && splits.size() == 1) {
    throw std::runtime_error(config_.data.folder +
                             ": has no split to score; put a file such as test.jsonl beside train.jsonl");
  }
  splits.erase(std::remove(splits.begin(), splits.end(), "train"), splits.end());
  return splits;
}

std::shared_ptr<const ExampleSource> RunData::Eval(const std::string& split, std::optional<Range> lengths) const {
  if (!folder_) {
    return std::make_shared<GeneratedExamples>(task_->name, split, config_.eval.seed,
                                               EvalOptions(config_.data, lengths));
  }
  if (lengths) {
    throw std::invalid_argument(
        "the examples of " + config_.data.folder +
        " are as long as they are; to score other lengths, put a file with such examples there");
  }
  return folder_->Split(split);
}

const TokenFile& RunData::Text(const std::string& split) const {
  const auto found = texts_.find(split);
  if (found != texts_.end()) return found->second;
  OpenTokensOptions options;
  options.notice = notice_;
  const std::string cache = config_.data.cache.empty() ? DefaultCacheDirectory() : config_.data.cache;
  TokenFile tokens = OpenTokens(FindCorpus(config_.data.corpus).Text(split), *tokenizer_, cache, options);
  return texts_.emplace(split, std::move(tokens)).first->second;
}

std::map<std::string, std::string> RunData::Checksums() const {
  std::map<std::string, std::string> sums;
  if (!config_.data.file.empty()) sums["data.file"] = Sha256OfFile(InputFile(config_.data.file));
  if (folder_) {
    for (const std::string& split : folder_->splits()) {
      sums["data.folder (" + split + ")"] = Sha256OfFile(InputFile(ExampleFile(config_.data.folder, split)));
    }
  }
  if (!IsText()) return sums;
  sums["data.tokenizer_files"] = tokenizer_->Checksum();
  for (const std::string& split : TextSplits(config_)) {
    sums["data.corpus (" + split + ")"] = Text(split).Info().text_sha256;
  }
  return sums;
}

namespace {

// Learned positions and labels end somewhere; without this only the last evaluation would notice.
void RequirePositions(const ModelConfig& model, int64_t longest) {
  if (FindVariant(model.attention).positions == Positions::kNone || model.max_length >= longest) return;
  throw std::invalid_argument("model.max_length: " + model.attention + " has " + std::to_string(model.max_length) +
                              " positions, but sequences of " + std::to_string(longest) +
                              " are trained on or scored; set it to at least that, or 0, or score shorter ones");
}

}  // namespace

ModelConfig CheckRun(const RunConfig& config) {
  const bool text = config.data.task == "text";
  if (config.train.target > 0 && (text || config.train.eval_every == 0)) {
    throw std::invalid_argument(
        text ? "train.target is an exact match, which data.task \"text\" does not have; set it to 0"
             : "train.target needs evaluations: set train.eval_every, for example to 100");
  }
  ModelConfig model;
  int64_t train_length = config.data.window, longest = 0;
  if (text) {
    RequireCorpus(config.data);
    const Corpus corpus = FindCorpus(config.data.corpus);
    for (const std::string& split : TextSplits(config)) corpus.Text(split);
    const int64_t vocabulary = MakeTokenizer(config.data.tokenizer, config.data.tokenizer_files)->Vocabulary();
    longest = *std::max_element(config.eval.windows.begin(), config.eval.windows.end());
    model = MakeModelConfig(config, vocabulary, train_length, longest);
  } else {
    const RunData data(config);
    train_length = data.TrainLength();
    longest = data.Longest();
    model = MakeModelConfig(config, data.Vocabulary(), train_length, longest);
  }
  CheckConfig(model);
  RequirePositions(model, std::max(train_length, longest));
  return model;
}

}  // namespace tra
