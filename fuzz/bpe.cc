// Reads bytes as encoder.json, and behind a byte 0 as vocab.bpe. A tokenizer that is taken gives every text back.
#include <stdexcept>
#include <vector>

#include "fuzz/harnesses.h"
#include "tra/text/bpe_model.h"
#include "tra/text/bpe_tokenizer.h"

namespace tra::fuzz {

void ReadBpeBytes(std::string_view bytes) {
  const size_t zero = bytes.find('\0');
  const std::string_view encoder = bytes.substr(0, zero);
  const std::string_view merges = zero == std::string_view::npos ? std::string_view() : bytes.substr(zero + 1);
  BpeModel model;
  try {
    model = ParseBpe(encoder, merges, "fuzz");
  } catch (const std::runtime_error&) {
    return;
  }
  const BpeTokenizer tokenizer("bpe", std::move(model));
  const std::string text = "Hello world, hello  \n\xc3\xa9 123's aaaaab" + std::string(merges.substr(0, 100));
  std::vector<int32_t> ids;
  tokenizer.Encode(text, ids);
  Require(tokenizer.Decode(ids) == text, "a text comes back as another");
}

}  // namespace tra::fuzz
