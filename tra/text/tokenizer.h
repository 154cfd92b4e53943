// Text to ids and back.
#ifndef TRA_TEXT_TOKENIZER_H_
#define TRA_TEXT_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tra {

// Any bytes can be encoded, and Decode gives the same bytes back. Encoding the two sides of a cut of cuts.h one after
// the other gives the ids of the whole. Threads may share one tokenizer.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string Name() const = 0;      // the one that MakeTokenizer knows
  virtual int64_t Vocabulary() const = 0;    // ids are below
  virtual std::string Checksum() const = 0;  // hexadecimal; another one if any text could get other ids
  // Appends. No text gives the id of EndOfText, not even its name.
  virtual void Encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  virtual std::optional<int32_t> EndOfText() const { return std::nullopt; }

  std::vector<int32_t> Encode(std::string_view text) const;
  // Of one id, and of many. Throw std::invalid_argument for an id that is not in the vocabulary.
  std::string_view Bytes(int32_t id) const;
  std::string Decode(const std::vector<int32_t>& ids) const;

 private:
  virtual std::string_view BytesOf(int32_t id) const = 0;  // of an id that is in the vocabulary
};

}  // namespace tra

#endif  // TRA_TEXT_TOKENIZER_H_
