#include "tra/text/token_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "tra/base/checksum.h"
#include "tra/base/file_lock.h"
#include "tra/base/input_file.h"
#include "tra/base/mapped_file.h"
#include "tra/kernels/parallel.h"
#include "tra/text/cuts.h"
#include "tra/text/text_check.h"

namespace tra {
namespace {

constexpr char kElsewhere[] = "; TRA_CACHE names another place for tokenised texts";

// Holds what a thread finds out about its part of a text.
struct Chunk {
  std::string_view text;
  std::optional<TextFault> fault;
  std::vector<int32_t> ids;
  int64_t words = 0, newlines = 0;

  void Encode(const Tokenizer& tokenizer) {
    ids.clear();
    fault = FindTextFault(text);
    if (fault) return;
    tokenizer.Encode(text, ids);
    newlines = std::count(text.begin(), text.end(), '\n');
    words = 0;
    bool in_word = false;  // no word spans two chunks: all but the first begin with a space
    for (const char byte : text) {
      const bool space = IsAsciiSpace(byte);
      words += !space && !in_word ? 1 : 0;
      in_word = !space;
    }
  }
};

// Works in waves: the threads encode some chunks, then the ids are written in order. Stops at the first fault of the
// text and returns it.
std::optional<TextFault> Tokenize(std::string_view text, const Tokenizer& tokenizer, const std::string& path,
                                  TokenFileInfo info, size_t chunk_bytes, Parallel& threads) {
  TokenFileWriter writer(path, tokenizer.Vocabulary());
  // Several per thread, because chunks take different times.
  std::vector<Chunk> chunks(4 * threads.Workers());
  for (size_t begin = 0; begin < text.size();) {
    size_t count = 0;
    for (; count < chunks.size() && begin < text.size(); ++count) {
      const size_t end = NextCut(text, begin + std::min(std::max<size_t>(1, chunk_bytes), text.size() - begin));
      chunks[count].text = text.substr(begin, end - begin);
      begin = end;
    }
    threads.Run(count, [&](size_t task, size_t /*worker*/) { chunks[task].Encode(tokenizer); });
    for (size_t i = 0; i < count; ++i) {
      Chunk& chunk = chunks[i];
      if (chunk.fault) {
        chunk.fault->offset += static_cast<size_t>(chunk.text.data() - text.data());
        return chunk.fault;
      }
      writer.Add(chunk.ids);
      info.words += chunk.words;
      info.lines += chunk.newlines;
    }
  }
  if (text.back() != '\n') ++info.lines;
  writer.Commit(info);
  return std::nullopt;
}

// Returns the cached tokens if they are the wanted ones. If there are others or damaged ones, sets `reason`.
std::optional<TokenFile> Find(const std::string& path, const TokenFileInfo& wanted, int64_t vocabulary,
                              std::string& reason) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    TokenFile file(path);
    const TokenFileInfo& info = file.Info();
    if (info.tokenizer_checksum != wanted.tokenizer_checksum) {
      reason = path + " is of another tokenizer";
    } else if (info.text_sha256 != wanted.text_sha256) {
      reason = "the text has changed";
    } else if (info.largest_id >= vocabulary) {
      reason = path + " has ids that the tokenizer does not have";
    } else {
      return file;
    }
  } catch (const std::runtime_error& error) {
    reason = error.what();
  }
  return std::nullopt;
}

InputFile OpenText(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw std::runtime_error(path + ": no such file; check the path");
  InputFile file(path);
  if (file.Size() == 0) throw std::runtime_error(path + ": is empty; name a file with text in it");
  return file;
}

}  // namespace

std::string DefaultCacheDirectory() {
  const auto set = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::string own = set("TRA_CACHE"); !own.empty()) return own;
  if (std::string all = set("XDG_CACHE_HOME"); !all.empty()) return all + "/tra";
  if (std::string home = set("HOME"); !home.empty()) return home + "/.cache/tra";
  throw std::runtime_error("no place for tokenised texts: set TRA_CACHE to a directory, or HOME");
}

std::string TokenCachePath(const TextSource& source, const Tokenizer& tokenizer, const std::string& cache_directory) {
  const std::filesystem::path place = std::filesystem::weakly_canonical(source.path);
  const std::string part = source.part.empty() ? "" : "-" + source.part;
  // The names are for people, the checksums make the result unique; a file name may have at most 255 bytes.
  const std::string name = place.filename().string().substr(0, 140) + part + "-" +
                           Sha256Hex(place.string()).substr(0, 12) + "-" + tokenizer.Name() + "-" +
                           tokenizer.Checksum().substr(0, 12) + ".ids";
  return (std::filesystem::path(cache_directory) / name).string();
}

TokenFile OpenTokens(const TextSource& source, const Tokenizer& tokenizer, const std::string& cache_directory,
                     const OpenTokensOptions& options) {
  const InputFile file = OpenText(source.path);
  const MappedFile mapped(file);
  const std::string_view text = PartOf(mapped.Bytes(), source);
  const std::string path = TokenCachePath(source, tokenizer, cache_directory);
  TokenFileInfo info;
  info.tokenizer_checksum = tokenizer.Checksum();
  info.text_sha256 = Sha256Hex(text);
  info.text_bytes = static_cast<int64_t>(text.size());

  std::string reason;
  if (std::optional<TokenFile> found = Find(path, info, tokenizer.Vocabulary(), reason)) return *std::move(found);
  std::error_code error;
  std::filesystem::create_directories(cache_directory, error);
  if (error) {
    throw std::runtime_error(cache_directory + ": cannot create the directory: " + error.message() + kElsewhere);
  }
  const FileLock lock(path + ".lock");
  // Another process may have made the tokens while this one waited for the lock.
  if (std::optional<TokenFile> found = Find(path, info, tokenizer.Vocabulary(), reason)) return *std::move(found);
  if (options.notice) {
    options.notice("tokenising " + source.path + (source.part.empty() ? "" : " (" + source.part + ")") + " with " +
                   tokenizer.Name() + (reason.empty() ? "" : " again: " + reason));
  }
  ThreadPool threads(options.threads);
  std::optional<TextFault> fault;
  try {
    fault = Tokenize(text, tokenizer, path, info, options.chunk_bytes, threads);
  } catch (const std::runtime_error& failure) {
    throw std::runtime_error(std::string(failure.what()) + kElsewhere);
  }
  if (fault) {
    fault->offset += static_cast<size_t>(text.data() - mapped.Bytes().data());
    ThrowTextFault(source.path, mapped.Bytes(), *fault);
  }
  return TokenFile(path);
}

}  // namespace tra
