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

// Returns the corpus of one file that is divided.
Corpus Divided(const std::string& path, const std::string& file) {
  Corpus corpus{path, {}, file + " is the only text, so it is divided: " + kDivision + ", cut at ends of lines"};
  for (const std::string& split : CorpusSplits()) corpus.texts.emplace(split, TextSource(file, split));
  return corpus;
}

}  // namespace

const std::vector<std::string>& CorpusSplits() {
  static const std::vector<std::string> kSplits = {"train", "valid", "test"};
  return kSplits;
}

const TextSource& Corpus::Text(const std::string& split) const {
  const auto found = texts.find(split);
  if (found != texts.end()) return found->second;
  for (const std::string& known : CorpusSplits()) {
    if (split == known) {
      throw std::runtime_error(path + ": has no " + split + " text; looked for " + NamesInWords(split) +
                               "; put one of them there or name another directory");
    }
  }
  throw std::invalid_argument("corpus: " + UnknownName("split", split, CorpusSplits()));
}

Corpus FindCorpus(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return Divided(path, path);
  if (!std::filesystem::is_directory(path, ignored)) {
    throw std::runtime_error(path + ": no such directory; name one that holds " + NamesInWords("train", "or") +
                             ", or a text");
  }
  Corpus corpus{path, {}, ""};
  for (const std::string& split : CorpusSplits()) {
    for (const std::string& name : NamesOf(split)) {
      const std::string file = (std::filesystem::path(path) / name).string();
      if (!std::filesystem::exists(file, ignored)) continue;
      const auto [known, is_first] = corpus.texts.emplace(split, file);
      if (!is_first) ThrowTwo(path, split, known->second.path, file);
    }
  }
  if (corpus.texts.empty()) {
    throw std::runtime_error(path + ": no text there; looked for " + NamesInWords("train") +
                             ", and the same for valid and test");
  }
  const bool only_train = corpus.texts.size() == 1 && corpus.texts.count("train") > 0;
  return only_train ? Divided(path, corpus.texts.at("train").path) : corpus;
}

}  // namespace tra
