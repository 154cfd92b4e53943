// Tokenises each text once and keeps its tokens in a cache.
#ifndef TRA_TEXT_TOKEN_CACHE_H_
#define TRA_TEXT_TOKEN_CACHE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "tra/text/text_source.h"
#include "tra/text/token_file.h"
#include "tra/text/tokenizer.h"

namespace tra {

// Returns $TRA_CACHE, else $XDG_CACHE_HOME/tra, else $HOME/.cache/tra. Throws std::runtime_error if none is set.
std::string DefaultCacheDirectory();

struct OpenTokensOptions {
  size_t threads = 0;                    // 0: one per core
  size_t chunk_bytes = size_t{1} << 20;  // how much a thread takes at a time; affects only memory and time
  // Called before a text is tokenised, with a message that also gives the reason if it is tokenised again.
  std::function<void(const std::string&)> notice;
};

// Returns where the tokens of a text are kept: in a file named after the text file, its path and the tokenizer.
std::string TokenCachePath(const TextSource& source, const Tokenizer& tokenizer, const std::string& cache_directory);

// Returns the tokens of a text, from the cache if it has them undamaged. Checksums show whether the text or the
// tokenizer has changed. Processes that want the same tokens wait for the first. Throws std::runtime_error for a text
// that is missing, empty or not text, and for a cache that cannot be written.
TokenFile OpenTokens(const TextSource& source, const Tokenizer& tokenizer, const std::string& cache_directory,
                     const OpenTokensOptions& options = {});

}  // namespace tra

#endif  // TRA_TEXT_TOKEN_CACHE_H_
