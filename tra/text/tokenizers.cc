#include "tra/text/tokenizers.h"

#include <filesystem>
#include <stdexcept>

#include "tra/base/checksum.h"
#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/base/names.h"
#include "tra/text/bpe_model.h"
#include "tra/text/bpe_tokenizer.h"

namespace tra {
namespace {

class ByteTokenizer : public Tokenizer {
 public:
  std::string Name() const override { return "bytes"; }
  int64_t Vocabulary() const override { return 256; }
  std::string Checksum() const override { return Sha256Hex("bytes 1"); }
  void Encode(std::string_view text, std::vector<int32_t>& ids) const override {
    ids.reserve(ids.size() + text.size());
    for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  }

 private:
  std::string_view BytesOf(int32_t id) const override {
    static const std::string kBytes = [] {
      std::string bytes;
      for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
      return bytes;
    }();
    return std::string_view(kBytes).substr(static_cast<size_t>(id), 1);
  }
};

std::unique_ptr<Tokenizer> MakeBytes(const std::string& /*files*/) { return std::make_unique<ByteTokenizer>(); }

// Reads a file of a tokenizer. If it is missing, the error says how to get it: `remedy`.
std::string Read(const std::string& directory, const char* file, const std::string& remedy) {
  const std::string path = (std::filesystem::path(directory) / file).string();
  if (!std::filesystem::exists(path)) throw std::runtime_error(path + ": no such file; " + remedy);
  return ReadFile(path, kMostJsonBytes);
}

constexpr char kGetGpt2[] = "get GPT-2's files with scripts/get_gpt2.sh DIR, then name that folder with --files";
constexpr char kGetBpe[] = "train encoder.json and vocab.bpe first, then name their folder with --files";

void CheckSum(const std::string& file, const std::string& directory, const char* name, const std::string& want) {
  const std::string got = Sha256Hex(file);
  if (got == want) return;
  throw std::runtime_error((std::filesystem::path(directory) / name).string() + ": is not GPT-2's: its SHA-256 is " +
                           got + ", not " + want + "; " + kGetGpt2 +
                           ", or use tokenizer bpe, which takes any such files");
}

std::unique_ptr<Tokenizer> MakeGpt2(const std::string& files) {
  if (files.empty()) throw std::invalid_argument(std::string("tokenizer gpt2 needs files: ") + kGetGpt2);
  const std::string encoder = Read(files, kEncoderFile, kGetGpt2), merges = Read(files, kMergesFile, kGetGpt2);
  CheckSum(encoder, files, kEncoderFile, "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783");
  CheckSum(merges, files, kMergesFile, "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5");
  return std::make_unique<BpeTokenizer>("gpt2", ParseBpe(encoder, merges, files));
}

std::unique_ptr<Tokenizer> MakeBpe(const std::string& files) {
  if (files.empty()) throw std::invalid_argument(std::string("tokenizer bpe needs files: ") + kGetBpe);
  const std::string encoder = Read(files, kEncoderFile, kGetBpe), merges = Read(files, kMergesFile, kGetBpe);
  return std::make_unique<BpeTokenizer>("bpe", ParseBpe(encoder, merges, files));
}

}  // namespace

const std::vector<TokenizerKind>& TokenizerKinds() {
  static const std::vector<TokenizerKind> kKinds = {
      {"bytes", "a byte is a token; needs no files", &MakeBytes},
      {"gpt2", "GPT-2's 50,257 tokens, from its encoder.json and vocab.bpe", &MakeGpt2},
      {"bpe", "byte-level BPE of any encoder.json and vocab.bpe, such as trained ones", &MakeBpe},
  };
  return kKinds;
}

std::unique_ptr<Tokenizer> MakeTokenizer(const std::string& name, const std::string& files) {
  std::vector<std::string> known;
  for (const TokenizerKind& kind : TokenizerKinds()) {
    if (name == kind.name) return kind.make(files);
    known.emplace_back(kind.name);
  }
  throw std::invalid_argument("text: " + UnknownName("tokenizer", name, known));
}

}  // namespace tra
