#include "tra/text/corpus.h"

#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "tra/base/names.h"

namespace tra {
namespace {

std::vector<std::string> NamesOf(const std::string& split) {
  return {"wiki." + split + ".raw", "wiki." + split + ".tokens", split + ".txt"};
}

std::string NamesInWords(const std::string& split, const std::string& last = "and") {
  const std::vector<std::string> names = NamesOf(split);
  return names[0] + ", " + names[1] + " " + last + " " + names[2];
}

[[noreturn]] void ThrowTwo(const std::string& directory, const std::string& split, const std::string& one,
                           const std::string& other) {
  throw std::runtime_error(directory + ": has two " + split + " texts, " + one + " and " + other +
                           "; leave one of them there");
}

}  // namespace

const std::vector<std::string>& CorpusSplits() {
  static const std::vector<std::string> kSplits = {"train", "valid", "test"};
  return kSplits;
}

const std::string& Corpus::File(const std::string& split) const {
  const auto found = files.find(split);
  if (found != files.end()) return found->second;
  for (const std::string& known : CorpusSplits()) {
    if (split == known) {
      throw std::runtime_error(directory + ": has no " + split + " text; looked for " + NamesInWords(split) +
                               "; put one of them there or name another directory");
    }
  }
  throw std::invalid_argument("corpus: " + UnknownName("split", split, CorpusSplits()));
}

Corpus FindCorpus(const std::string& directory) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored)) {
    throw std::runtime_error(directory + ": no such directory; name one that holds " + NamesInWords("train", "or"));
  }
  Corpus corpus{directory, {}};
  for (const std::string& split : CorpusSplits()) {
    for (const std::string& name : NamesOf(split)) {
      const std::string path = (std::filesystem::path(directory) / name).string();
      if (!std::filesystem::exists(path, ignored)) continue;
      const auto [known, is_first] = corpus.files.emplace(split, path);
      if (!is_first) ThrowTwo(directory, split, known->second, path);
    }
  }
  if (corpus.files.empty()) {
    throw std::runtime_error(directory + ": no text there; looked for " + NamesInWords("train") +
                             ", and the same for valid and test");
  }
  return corpus;
}

}  // namespace tra
