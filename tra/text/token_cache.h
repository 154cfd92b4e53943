// Texts are tokenised once and kept.
#ifndef TRA_TEXT_TOKEN_CACHE_H_
#define TRA_TEXT_TOKEN_CACHE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "tra/text/token_file.h"
#include "tra/text/tokenizer.h"

namespace tra {

// $TRA_CACHE, else $XDG_CACHE_HOME/tra, else $HOME/.cache/tra. Throws std::runtime_error if none is set.
std::string DefaultCacheDirectory();

struct OpenTokensOptions {
  size_t threads = 0;                    // 0: one per core
  size_t chunk_bytes = size_t{1} << 20;  // a thread's share at a time; changes nothing but memory and time
  // Told, before the work, that a text is being tokenised, and why again if it had been.
  std::function<void(const std::string&)> notice;
};

// Where the tokens of a text are kept: named after the file, its place and the tokenizer.
std::string TokenCachePath(const std::string& text_path, const Tokenizer& tokenizer,
                           const std::string& cache_directory);

// The tokens of a text file, from the cache if it has them and they are sound. A text or a tokenizer that has changed
// is told by its checksum. Processes that want the same tokens wait for the first. Throws std::runtime_error for a text
// that is missing, empty or not text, and for a cache that cannot be written.
TokenFile OpenTokens(const std::string& text_path, const Tokenizer& tokenizer, const std::string& cache_directory,
                     const OpenTokensOptions& options = {});

}  // namespace tra

#endif  // TRA_TEXT_TOKEN_CACHE_H_
