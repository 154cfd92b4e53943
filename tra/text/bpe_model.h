// What a byte-level BPE is made of, and the two files that hold it, in GPT-2's format.
#ifndef TRA_TEXT_BPE_MODEL_H_
#define TRA_TEXT_BPE_MODEL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tra {

struct BpeModel {
  struct Merge {
    int32_t left, right, result;  // ids
  };

  std::vector<std::string> tokens;      // by id, their bytes
  std::array<int32_t, 256> byte_ids{};  // by byte
  std::vector<Merge> merges;            // best first; parts are bytes or results of earlier merges
  std::optional<int32_t> end_of_text;   // "<|endoftext|>", which no text gives
};

constexpr char kEncoderFile[] = "encoder.json";  // {"token": id, ...}
constexpr char kMergesFile[] = "vocab.bpe";      // "#version: 0.2", then a merge a line, best first: left, space, right
constexpr char kEndOfText[] = "<|endoftext|>";

// Bytes in the order that GPT-2 numbers them in: the printable ones of Latin-1, then the others.
const std::array<unsigned char, 256>& ByteOrder();

// The files hold bytes as characters that can be seen: a printable one as itself, the others from U+0100 on.
std::string ToVisible(std::string_view bytes);
std::optional<std::string> FromVisible(std::string_view visible);  // nothing if another character is in it

// Of the contents of the two files. Throws std::runtime_error that begins with the path of the file at fault.
BpeModel ParseBpe(std::string_view encoder, std::string_view merges, const std::string& directory);

// Creates the directory if need be. Throws std::runtime_error.
void WriteBpe(const BpeModel& model, const std::string& directory);

}  // namespace tra

#endif  // TRA_TEXT_BPE_MODEL_H_
