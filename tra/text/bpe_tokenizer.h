// Encodes text by byte-level BPE, as GPT-2 does.
#ifndef TRA_TEXT_BPE_TOKENIZER_H_
#define TRA_TEXT_BPE_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tra/text/bpe_merger.h"
#include "tra/text/bpe_model.h"
#include "tra/text/tokenizer.h"

namespace tra {

class BpeTokenizer : public Tokenizer {
 public:
  BpeTokenizer(std::string name, BpeModel model);
  ~BpeTokenizer() override;

  using Tokenizer::Encode;
  std::string Name() const override { return name_; }
  int64_t Vocabulary() const override { return static_cast<int64_t>(model_.tokens.size()); }
  std::string Checksum() const override { return checksum_; }
  void Encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::optional<int32_t> EndOfText() const override { return model_.end_of_text; }

 private:
  struct Workspace;
  class Borrowed;

  std::string_view BytesOf(int32_t id) const override { return model_.tokens[static_cast<size_t>(id)]; }

  std::string name_;
  BpeModel model_;
  MergeTable table_;
  std::string checksum_;
  // Each running call borrows a workspace from here. A returned one keeps the words it has cached.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace tra

#endif  // TRA_TEXT_BPE_TOKENIZER_H_
