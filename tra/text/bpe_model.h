// Holds a byte-level BPE, and reads and writes the two files it is stored in, in GPT-2's format.
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

  std::vector<std::string> tokens;      // the bytes of each token, by id
  std::array<int32_t, 256> byte_ids{};  // the id of each byte
  std::vector<Merge> merges;            // best first; left and right are bytes or results of earlier merges
  std::optional<int32_t> end_of_text;   // "<|endoftext|>", which encoding never produces
};

constexpr char kEncoderFile[] = "encoder.json";  // {"token": id, ...}
constexpr char kMergesFile[] = "vocab.bpe";      // "#version: 0.2", then one merge "left right" per line, best first
constexpr char kEndOfText[] = "<|endoftext|>";

// Returns all bytes in the order in which GPT-2 numbers them: the printable ones of Latin-1, then the others.
const std::array<unsigned char, 256>& ByteOrder();

// Convert bytes to the visible characters that stand for them in the files, and back. A printable byte stands for
// itself, the others are characters from U+0100 on.
std::string ToVisible(std::string_view bytes);
std::optional<std::string> FromVisible(std::string_view visible);  // nothing if it has any other character

// Makes a model from the contents of the two files. Throws std::runtime_error that begins with the path of the file at
// fault.
BpeModel ParseBpe(std::string_view encoder, std::string_view merges, const std::string& directory);

// Writes the two files, and creates the directory if it is missing. Throws std::runtime_error.
void WriteBpe(const BpeModel& model, const std::string& directory);

}  // namespace tra

#endif  // TRA_TEXT_BPE_MODEL_H_
