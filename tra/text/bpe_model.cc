#include "tra/text/bpe_model.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "tra/base/atomic_file.h"
#include "tra/base/json.h"
#include "tra/base/text.h"

namespace tra {
namespace {

constexpr char kVersionLine[] = "#version: 0.2";
constexpr int kPrintable = 188;                   // number of bytes that stand for themselves
constexpr int kVisible = 256 + 256 - kPrintable;  // all code points in use are below this

constexpr bool Printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

std::string PathIn(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

[[noreturn]] void FailDamaged(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + Shortened(what, 300) +
                           "; the file is damaged or of another tokenizer: get it again, or train " + kEncoderFile +
                           " and " + kMergesFile + " anew");
}

// Returns the tokens by id. Fails unless n tokens have the ids 0..n-1, each once.
std::vector<std::string> ParseTokens(std::string_view encoder, const std::string& path) {
  nlohmann::json json;
  try {
    json = ParseJson(encoder);
  } catch (const JsonError& error) {
    FailDamaged(path, error.what());
  }
  if (!json.is_object() || json.empty()) FailDamaged(path, "is not an object of tokens and ids");
  std::vector<std::string> tokens(json.size());
  for (const auto& [visible, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= tokens.size()) {
      FailDamaged(path, "token \"" + visible + "\" has the id " + id.dump() + ", but " + std::to_string(tokens.size()) +
                            " tokens have the ids from 0 to " + std::to_string(tokens.size() - 1));
    }
    std::string& token = tokens[id.get<uint64_t>()];
    std::optional<std::string> bytes = FromVisible(visible);
    if (!bytes || bytes->empty()) FailDamaged(path, "token \"" + visible + "\" is not of GPT-2's byte characters");
    if (!token.empty()) FailDamaged(path, "id " + id.dump() + " is of two tokens");
    token = *std::move(bytes);
  }
  return tokens;
}

// Reads the merges, one per line, into a model. Its errors name the line at fault.
class MergeParser {
 public:
  MergeParser(BpeModel& model, std::string path) : model_(model), path_(std::move(path)), made_(model.tokens.size()) {
    ids_.reserve(model.tokens.size());
    for (size_t id = 0; id < model.tokens.size(); ++id) ids_.emplace(model.tokens[id], static_cast<int32_t>(id));
    for (const int32_t id : model.byte_ids) made_[static_cast<size_t>(id)] = true;
  }

  void Parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line_ == 1 && line.substr(0, 8) == "#version") continue;
      if (line.empty() && text.empty()) continue;
      Add(line);
    }
  }

 private:
  void Add(std::string_view line) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) Fail("is not two parts with a space between");
    const auto left = FromVisible(line.substr(0, space)), right = FromVisible(line.substr(space + 1));
    if (!left || !right) Fail("is not of GPT-2's byte characters");
    const int32_t left_id = Find(*left), right_id = Find(*right), result = Find(*left + *right);
    // Encoding relies on these two checks: they ensure that no merge makes a pair that ranks better than itself.
    if (!made_[static_cast<size_t>(left_id)] || !made_[static_cast<size_t>(right_id)]) {
      Fail("uses a part before it is made");
    }
    if (made_[static_cast<size_t>(result)]) Fail("makes a token that is there already");
    made_[static_cast<size_t>(result)] = true;
    model_.merges.push_back({left_id, right_id, result});
  }

  int32_t Find(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) Fail("needs the token \"" + ToVisible(token) + "\", which " + kEncoderFile + " lacks");
    return found->second;
  }

  [[noreturn]] void Fail(const std::string& what) const {
    FailDamaged(path_, "line " + std::to_string(line_) + " " + what);
  }

  BpeModel& model_;
  std::string path_;
  std::unordered_map<std::string_view, int32_t> ids_;
  std::vector<bool> made_;
  size_t line_ = 0;
};

void WriteWhole(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.Write(bytes.data(), bytes.size());
  file.Commit();
}

}  // namespace

const std::array<unsigned char, 256>& ByteOrder() {
  static const auto kOrder = [] {
    std::array<unsigned char, 256> order{};
    size_t printable = 0, other = kPrintable;
    for (int byte = 0; byte < 256; ++byte)
      order[Printable(byte) ? printable++ : other++] = static_cast<unsigned char>(byte);
    return order;
  }();
  return kOrder;
}

std::string ToVisible(std::string_view bytes) {
  static const auto kCharacters = [] {
    std::array<std::string, 256> characters;
    for (int i = 0; i < 256; ++i) {
      const int byte = ByteOrder()[static_cast<size_t>(i)];
      const int code = i < kPrintable ? byte : 256 + i - kPrintable;
      std::string& out = characters[static_cast<size_t>(byte)];
      if (code >= 0x80) out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(code >= 0x80 ? 0x80 | (code & 0x3F) : code);
    }
    return characters;
  }();
  std::string visible;
  for (const char byte : bytes) visible += kCharacters[static_cast<unsigned char>(byte)];
  return visible;
}

std::optional<std::string> FromVisible(std::string_view visible) {
  static const auto kBytes = [] {
    std::array<int, kVisible> bytes{};
    bytes.fill(-1);
    for (int i = 0; i < 256; ++i) {
      const int byte = ByteOrder()[static_cast<size_t>(i)];
      bytes[static_cast<size_t>(i < kPrintable ? byte : 256 + i - kPrintable)] = byte;
    }
    return bytes;
  }();
  std::string text;
  for (size_t i = 0; i < visible.size(); ++i) {
    auto code = static_cast<unsigned char>(visible[i]) + 0u;
    if (code >= 0x80) {
      // Code points from 0x80 to kVisible take two bytes.
      if ((code & 0xE0) != 0xC0 || ++i == visible.size()) return std::nullopt;
      const auto low = static_cast<unsigned char>(visible[i]) + 0u;
      if ((low & 0xC0) != 0x80) return std::nullopt;
      code = (code & 0x1F) << 6 | (low & 0x3F);
      if (code < 0x80) return std::nullopt;
    }
    if (code >= kBytes.size() || kBytes[code] < 0) return std::nullopt;
    text += static_cast<char>(kBytes[code]);
  }
  return text;
}

BpeModel ParseBpe(std::string_view encoder, std::string_view merges, const std::string& directory) {
  const std::string encoder_path = PathIn(directory, kEncoderFile);
  BpeModel model;
  model.tokens = ParseTokens(encoder, encoder_path);
  model.byte_ids.fill(-1);
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    const std::string& token = model.tokens[id];
    if (token.size() == 1) model.byte_ids[static_cast<unsigned char>(token[0])] = static_cast<int32_t>(id);
    if (token == kEndOfText) model.end_of_text = static_cast<int32_t>(id);
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (model.byte_ids[static_cast<size_t>(byte)] >= 0) continue;
    FailDamaged(encoder_path, "has no token \"" + ToVisible(std::string(1, static_cast<char>(byte))) +
                                  "\" for the byte " + std::to_string(byte));
  }
  MergeParser(model, PathIn(directory, kMergesFile)).Parse(merges);
  return model;
}

void WriteBpe(const BpeModel& model, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw std::runtime_error(directory + ": cannot create the directory: " + error.message() + "; name another one");
  }
  std::string encoder;
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    const std::string quoted = nlohmann::json(ToVisible(model.tokens[id])).dump(-1, ' ', /*ensure_ascii=*/true);
    encoder += (id == 0 ? "{" : ", ") + quoted + ": " + std::to_string(id);
  }
  std::string merges = std::string(kVersionLine) + "\n";
  for (const BpeModel::Merge& merge : model.merges) {
    merges += ToVisible(model.tokens[static_cast<size_t>(merge.left)]) + " " +
              ToVisible(model.tokens[static_cast<size_t>(merge.right)]) + "\n";
  }
  WriteWhole(PathIn(directory, kEncoderFile), encoder + "}\n");
  WriteWhole(PathIn(directory, kMergesFile), merges);
}

}  // namespace tra
