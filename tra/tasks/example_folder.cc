#include "tra/tasks/example_folder.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "tra/base/json.h"
#include "tra/base/mapped_file.h"
#include "tra/base/names.h"
#include "tra/base/permutation.h"

namespace tra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kTrain[] = "train", kExtension[] = ".jsonl";
constexpr int64_t kMostTokens = 1 << 20;
constexpr char kExpected[] = R"(; expected examples such as {"tokens": [1, 5, 2, 5], "supervised": [3]})";

// Reads the objects of a file one after the other, and skips empty lines.
class ObjectReader {
 public:
  explicit ObjectReader(std::string path) : path_(std::move(path)), file_(path_), rest_(file_.Bytes()) {}

  bool Next(json& object) {
    while (!rest_.empty()) {
      const size_t end = rest_.find('\n');
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      try {
        object = ParseJson(line);
      } catch (const JsonError& error) {
        const std::string column = std::to_string(error.Byte());
        Fail((error.Byte() > 0 ? "is not JSON from column " + column + " on" : error.what()) + kExpected);
      }
      if (!object.is_object()) Fail(std::string("is not an object") + kExpected);
      return true;
    }
    return false;
  }

  int64_t line() const { return line_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": " + what);
  }

 private:
  std::string path_;
  MappedFile file_;
  std::string_view rest_;
  int64_t line_ = 0;
};

// Says whether a text has control characters, which could change what a terminal shows.
bool HasControls(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
}

bool IsHead(const json& object) { return object.contains("format"); }

// Returns the names that a head gives the tokens; nothing if it gives none.
std::optional<std::vector<std::string>> NamesOf(const json& head, const ObjectReader& reader) {
  if (head["format"] != "tra-examples") {
    reader.Fail("the format is " + head["format"].dump() + R"(; expected "tra-examples", or no head at all)");
  }
  if (!head.contains("names")) return std::nullopt;
  const json& listed = head["names"];
  std::vector<std::string> names;
  std::set<std::string> known;
  if (!listed.is_array() || listed.empty()) reader.Fail("names must be an array of the tokens' names, by id");
  for (const json& each : listed) {
    const std::string name = each.is_string() ? each.get<std::string>() : "";
    if (name.empty() || name.find(' ') != std::string::npos || HasControls(name)) {
      reader.Fail("the name " + each.dump() + " of token " + std::to_string(names.size()) +
                  " must be a string without blanks and control characters");
    }
    names.push_back(name);
    if (!known.insert(names.back()).second) reader.Fail("two tokens have the name " + each.dump());
  }
  return names;
}

// Calls tokens without a name by their ids.
void NameAll(std::vector<std::string>& names, int64_t vocabulary) {
  while (static_cast<int64_t>(names.size()) < vocabulary) names.push_back(std::to_string(names.size()));
}

// Reads an array of integers that are at least `low` and below `high`. `what` these are, and `remedy`, are for
// messages.
std::vector<int64_t> Integers(const json& object, const char* field, int64_t low, int64_t high, const std::string& what,
                              const std::string& remedy, const ObjectReader& reader) {
  if (!object.contains(field)) reader.Fail(std::string("has no ") + field + kExpected);
  if (!object[field].is_array()) reader.Fail(std::string(field) + " is not an array" + kExpected);
  std::vector<int64_t> values;
  for (const json& each : object[field]) {
    if (!each.is_number_integer() || each < low || each >= high) {
      reader.Fail(std::string(field) + " has " + each.dump() + ", but " + what + " are " + std::to_string(low) +
                  " to " + std::to_string(high - 1) + remedy);
    }
    values.push_back(each.get<int64_t>());
  }
  return values;
}

// Reads the examples of a file. Names of groups are looked up in, or added to, `groups`.
class FileReader {
 public:
  FileReader(const std::string& path, std::vector<std::string>& groups) : reader_(path), groups_(groups) {}

  // `vocabulary`: the number of tokens; 0: not known yet.
  std::shared_ptr<const FileExamples> Read(int64_t vocabulary) {
    vocabulary_ = vocabulary;
    auto examples = std::make_shared<FileExamples>();
    json object;
    for (bool first = true; reader_.Next(object); first = false) {
      if (IsHead(object)) {
        if (!first) reader_.Fail("is a head, which only the first line may be");
        names_ = NamesOf(object, reader_);
        if (vocabulary_ == 0 && names_) vocabulary_ = static_cast<int64_t>(names_->size());
        continue;
      }
      examples->Add(ReadExample(object), reader_.line());
    }
    if (*examples->Size() == 0) throw std::runtime_error(reader_.path() + ": holds no example" + kExpected);
    return examples;
  }

  const std::optional<std::vector<std::string>>& names() const { return names_; }
  int32_t largest() const { return largest_; }

 private:
  Example ReadExample(const json& object) {
    const bool known = vocabulary_ > 0;
    Example example;
    for (const int64_t token :
         Integers(object, "tokens", 0, known ? vocabulary_ : kMostTokens, "ids",
                  known ? "; name more tokens in the head, or set data.vocabulary" : "", reader_)) {
      example.Add(static_cast<int32_t>(token));
      largest_ = std::max(largest_, example.tokens.back());
    }
    if (example.tokens.size() < 2) reader_.Fail("an example needs at least 2 tokens: one to read, one to predict");
    const auto positions = Integers(object, "supervised", 1, static_cast<int64_t>(example.tokens.size()),
                                    "the positions of answers", "; the first token is only read", reader_);
    if (positions.empty()) reader_.Fail("supervised is empty, but an example needs an answer to be scored by");
    for (const int64_t position : positions) example.supervised[static_cast<size_t>(position)] = 1;
    example.group = GroupOf(object);
    return example;
  }

  int32_t GroupOf(const json& object) {
    const bool has = object.contains("group");
    if (!has && groups_.empty()) {
      without_group_ = true;
      return 0;
    }
    if (!has || without_group_) reader_.Fail("some examples have a group and some have none; give all of them one");
    if (!object["group"].is_string()) reader_.Fail("group must be a name, got " + object["group"].dump());
    const std::string name = object["group"].get<std::string>();
    if (name.empty() || HasControls(name)) {
      reader_.Fail("the group " + object["group"].dump() + " must be a name without control characters");
    }
    const auto found = std::find(groups_.begin(), groups_.end(), name);
    if (found != groups_.end()) return static_cast<int32_t>(found - groups_.begin());
    groups_.push_back(name);
    return static_cast<int32_t>(groups_.size()) - 1;
  }

  ObjectReader reader_;
  std::vector<std::string>& groups_;
  bool without_group_ = false;
  int64_t vocabulary_ = 0;
  int32_t largest_ = 0;
  std::optional<std::vector<std::string>> names_;
};

std::vector<std::string> FindSplits(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::string> splits;
  if (!fs::is_directory(folder, ignored) || !fs::exists(ExampleFile(folder, kTrain), ignored)) {
    throw std::runtime_error(folder + ": is not a folder with a " + kTrain + kExtension +
                             "; put one there, and a file for each split to score (tra data export writes some)");
  }
  for (const auto& each : fs::directory_iterator(folder)) {
    const std::string name = each.path().stem().string();
    if (each.path().extension() == kExtension && name != kTrain) splits.push_back(name);
  }
  std::sort(splits.begin(), splits.end());
  splits.insert(splits.begin(), kTrain);
  return splits;
}

}  // namespace

std::string ExampleFile(const std::string& folder, const std::string& split) {
  return (fs::path(folder) / (split + kExtension)).string();
}

Example FileExamples::At(uint64_t index) const {
  if (index >= lines_.size()) {
    throw std::out_of_range("example " + std::to_string(index) + " of " + std::to_string(lines_.size()));
  }
  const auto begin = static_cast<ptrdiff_t>(starts_[index]), end = static_cast<ptrdiff_t>(starts_[index + 1]);
  Example example;
  example.tokens.assign(tokens_.begin() + begin, tokens_.begin() + end);
  example.supervised.assign(supervised_.begin() + begin, supervised_.begin() + end);
  example.group = groups_[index];
  return example;
}

int64_t FileExamples::Longest() const {
  size_t longest = 0;
  for (size_t i = 0; i + 1 < starts_.size(); ++i) longest = std::max(longest, starts_[i + 1] - starts_[i]);
  return static_cast<int64_t>(longest);
}

void FileExamples::Add(const Example& example, int64_t line) {
  lines_.push_back(line);
  tokens_.insert(tokens_.end(), example.tokens.begin(), example.tokens.end());
  supervised_.insert(supervised_.end(), example.supervised.begin(), example.supervised.end());
  starts_.push_back(tokens_.size());
  groups_.push_back(example.group);
}

Example ShuffledExamples::At(uint64_t index) const {
  const uint64_t size = *examples_->Size();
  return examples_->At(Permute(index % size, size, seed_, index / size, Stream::kExampleOrder));
}

ExampleFolder::ExampleFolder(const std::string& path, int64_t vocabulary) : splits_(FindSplits(path)) {
  std::optional<std::vector<std::string>> named;
  for (const std::string& split : splits_) {
    const std::string file = ExampleFile(path, split);
    const bool train = files_.empty();
    const std::vector<std::string> groups_before = groups_;
    FileReader reader(file, groups_);
    files_.push_back(reader.Read(vocabulary));
    if (train) {
      named = reader.names();
      if (vocabulary == 0) vocabulary = named ? static_cast<int64_t>(named->size()) : reader.largest() + 1;
      if (named) names_ = *named;
      if (static_cast<int64_t>(names_.size()) > vocabulary) {
        throw std::runtime_error(file + ": names " + std::to_string(names_.size()) +
                                 " tokens, but data.vocabulary is " + std::to_string(vocabulary));
      }
      NameAll(names_, vocabulary);
    } else if (reader.names() && reader.names() != named) {
      throw std::runtime_error(file + ": its head names other tokens than that of " + ExampleFile(path, kTrain) +
                               "; they must be the same");
    } else if (groups_before.empty() && !groups_.empty()) {
      throw std::runtime_error(file + ": its examples have a group, but those of " + splits_.front() + kExtension +
                               " have none; give all of them one");
    }
  }
}

const std::shared_ptr<const FileExamples>& ExampleFolder::Split(const std::string& name) const {
  const auto found = std::find(splits_.begin(), splits_.end(), name);
  if (found == splits_.end()) throw std::invalid_argument(UnknownName("split", name, splits_));
  return files_[static_cast<size_t>(found - splits_.begin())];
}

std::vector<std::string> ReadTokenNames(const std::string& folder, int64_t vocabulary) {
  FindSplits(folder);
  ObjectReader reader(ExampleFile(folder, kTrain));
  std::vector<std::string> names;
  json first;
  if (reader.Next(first) && IsHead(first)) names = NamesOf(first, reader).value_or(names);
  NameAll(names, vocabulary);
  return names;
}

}  // namespace tra
