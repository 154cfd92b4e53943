#include "tra/text/bpe_tokenizer.h"

#include <cstring>
#include <functional>
#include <utility>

#include "tra/base/checksum.h"
#include "tra/text/pieces.h"

namespace tra {
namespace {

// Caches the ids of recent words. Each word has one possible place, and a new word replaces the one that was there, so
// the cache is bounded and needs no cleaning up.
class WordCache {
 public:
  static constexpr size_t kMaxBytes = 30, kMaxIds = 8;
  struct Word {
    uint8_t size, count;
    char bytes[kMaxBytes];
    int32_t ids[kMaxIds];
  };
  static_assert(sizeof(Word) == 64, "a cache line");

  // Returns the place of `piece`, which may hold another word. `piece` must have at most kMaxBytes.
  Word& Place(std::string_view piece) { return words_[std::hash<std::string_view>()(piece) % kWords]; }

  static bool Holds(const Word& word, std::string_view piece) {
    return word.size == piece.size() && std::memcmp(word.bytes, piece.data(), piece.size()) == 0;
  }

  static void Put(Word& word, std::string_view piece, const int32_t* ids, size_t count) {
    if (count > kMaxIds) return;
    word.size = static_cast<uint8_t>(piece.size());
    word.count = static_cast<uint8_t>(count);
    std::memcpy(word.bytes, piece.data(), piece.size());
    std::memcpy(word.ids, ids, count * sizeof(int32_t));
  }

 private:
  static constexpr size_t kWords = size_t{1} << 15;  // 2 MB
  std::vector<Word> words_ = std::vector<Word>(kWords);
};

std::string ModelChecksum(const BpeModel& model) {
  Sha256 sum;
  sum.Add("byte-level BPE 1\n" + Pieces::Rule() + "\n");
  for (const std::string& token : model.tokens) sum.Add(std::to_string(token.size()) + ":" + token);
  for (const BpeModel::Merge& merge : model.merges) {
    sum.Add(std::to_string(merge.left) + "+" + std::to_string(merge.right) + "\n");
  }
  return sum.Hex();
}

}  // namespace

struct BpeTokenizer::Workspace {
  WordCache words;
  BpeMerger merger;
};

class BpeTokenizer::Borrowed {
 public:
  explicit Borrowed(const BpeTokenizer& owner) : owner_(owner) {
    {
      const std::lock_guard<std::mutex> lock(owner_.mutex_);
      if (!owner_.idle_.empty()) {
        workspace_ = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
      }
    }
    if (!workspace_) workspace_ = std::make_unique<Workspace>();
  }
  ~Borrowed() {
    const std::lock_guard<std::mutex> lock(owner_.mutex_);
    owner_.idle_.push_back(std::move(workspace_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  Workspace& operator*() const { return *workspace_; }

 private:
  const BpeTokenizer& owner_;
  std::unique_ptr<Workspace> workspace_;
};

BpeTokenizer::BpeTokenizer(std::string name, BpeModel model)
    : name_(std::move(name)), model_(std::move(model)), table_(model_), checksum_(ModelChecksum(model_)) {}

BpeTokenizer::~BpeTokenizer() = default;

void BpeTokenizer::Encode(std::string_view text, std::vector<int32_t>& ids) const {
  const Borrowed borrowed(*this);
  auto& [words, merger] = *borrowed;
  Pieces pieces(text);
  for (std::string_view piece; pieces.Next(piece);) {
    if (piece.size() > WordCache::kMaxBytes) {
      merger.Merge(table_, piece, ids);
      continue;
    }
    WordCache::Word& word = words.Place(piece);
    if (WordCache::Holds(word, piece)) {
      ids.insert(ids.end(), word.ids, word.ids + word.count);
    } else {
      const size_t begin = ids.size();
      merger.Merge(table_, piece, ids);
      WordCache::Put(word, piece, ids.data() + begin, ids.size() - begin);
    }
  }
}

}  // namespace tra
