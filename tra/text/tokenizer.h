// The interface of tokenizers, which turn text into ids and back.
#ifndef TRA_TEXT_TOKENIZER_H_
#define TRA_TEXT_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tra {

// Encodes any bytes, and Decode gives the same bytes back. Encoding the two sides of a cut (see cuts.h) one after the
// other gives the ids of the whole text. Threads may share one tokenizer.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string Name() const = 0;      // the name by which MakeTokenizer makes it
  virtual int64_t Vocabulary() const = 0;    // all ids are below this
  virtual std::string Checksum() const = 0;  // hexadecimal; differs if any text could get other ids
  // Appends the ids of `text`. No text is encoded as the id of EndOfText, not even "<|endoftext|>".
  virtual void Encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  virtual std::optional<int32_t> EndOfText() const { return std::nullopt; }

  std::vector<int32_t> Encode(std::string_view text) const;
  // Return the bytes of one id, and of many. Both throw std::invalid_argument for an id outside the vocabulary.
  std::string_view Bytes(int32_t id) const;
  std::string Decode(const std::vector<int32_t>& ids) const;

 private:
  virtual std::string_view BytesOf(int32_t id) const = 0;  // the id must be in the vocabulary
};

}  // namespace tra

#endif  // TRA_TEXT_TOKENIZER_H_
