#include "tra/text/tokenizer.h"

#include <stdexcept>

namespace tra {

std::vector<int32_t> Tokenizer::Encode(std::string_view text) const {
  std::vector<int32_t> ids;
  Encode(text, ids);
  return ids;
}

std::string_view Tokenizer::Bytes(int32_t id) const {
  if (id < 0 || id >= Vocabulary()) {
    throw std::invalid_argument("tokenizer " + Name() + ": id " + std::to_string(id) + " is not in the vocabulary of " +
                                std::to_string(Vocabulary()) + "; decode with the tokenizer that made it");
  }
  return BytesOf(id);
}

std::string Tokenizer::Decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (const int32_t id : ids) text += Bytes(id);
  return text;
}

}  // namespace tra
