#include "tra/text/bpe_train.h"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tra/kernels/parallel.h"
#include "tra/text/cuts.h"
#include "tra/text/pieces.h"

namespace tra {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr int64_t kSmallest = 257;  // the bytes and end of text

using WordCounts = std::unordered_map<std::string_view, int64_t>;

WordCounts CountWords(std::string_view text, size_t threads) {
  std::vector<std::string_view> chunks;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = NextCut(text, std::min(begin + kChunkBytes, text.size()));
    chunks.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  ThreadPool pool(threads);
  std::vector<WordCounts> counts(pool.Workers());
  pool.Run(chunks.size(), [&](size_t chunk, size_t worker) {
    Pieces pieces(chunks[chunk]);
    for (std::string_view piece; pieces.Next(piece);) ++counts[worker][piece];
  });
  for (size_t worker = 1; worker < counts.size(); ++worker) {
    for (const auto& [word, count] : counts[worker]) counts[0][word] += count;
  }
  return std::move(counts[0]);
}

// Holds the distinct words of a text as linked lists of symbols, and the places of each pair of neighbours.
class Trainer {
 public:
  Trainer(const WordCounts& words, BpeModel& model) : model_(model) {
    for (const auto& [word, count] : words) Add(word, count);
    Queue();
  }

  // Makes the next merge. Returns false if no pair occurs twice.
  bool Step() {
    while (!queue_.empty()) {
      const auto [count, negated_pair] = queue_.top();
      queue_.pop();
      const uint64_t pair = ~negated_pair;
      // A pair gains occurrences only while the newer of its two tokens is made; later merges can only lower its count.
      const int64_t now = pairs_[pair].count;
      if (now == count) {
        Merge(pair);
        return true;
      }
      if (now > 1) queue_.emplace(now, negated_pair);
    }
    return false;
  }

 private:
  static constexpr uint32_t kEnd = ~uint32_t{0};
  static constexpr int32_t kGone = -1;
  struct Symbol {
    int32_t id;
    uint32_t before, after;
    uint32_t word;
  };
  struct Pair {
    int64_t count = 0;
    std::vector<uint32_t> places;  // of its left symbol, ascending; some may be outdated
  };

  static uint64_t Key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  void Add(std::string_view word, int64_t count) {
    if (word.size() >= kEnd - symbols_.size()) {
      throw std::invalid_argument("BPE training: more than 4 GB of different words; train on a part of the text");
    }
    const auto begin = static_cast<uint32_t>(symbols_.size()), end = begin + static_cast<uint32_t>(word.size());
    for (uint32_t i = begin; i < end; ++i) {
      symbols_.push_back({model_.byte_ids[static_cast<unsigned char>(word[i - begin])], i == begin ? kEnd : i - 1,
                          i + 1 == end ? kEnd : i + 1, static_cast<uint32_t>(counts_.size())});
    }
    counts_.push_back(count);
    for (uint32_t i = begin; i + 1 < end; ++i) Found(i);
  }

  // Found counts the pair at `place`: the symbol there and the one after it. Lost is called before such a pair is
  // broken up, and subtracts it again.
  void Found(uint32_t place) {
    const Symbol& left = symbols_[place];
    const uint64_t key = Key(left.id, symbols_[left.after].id);
    Pair& pair = pairs_[key];
    if (pair.places.empty()) fresh_.push_back(key);
    pair.count += counts_[left.word];
    pair.places.push_back(place);
  }
  void Lost(uint32_t place) {
    const Symbol& left = symbols_[place];
    pairs_[Key(left.id, symbols_[left.after].id)].count -= counts_[left.word];
  }

  void Queue() {
    for (const uint64_t key : fresh_) {
      if (pairs_[key].count > 1) queue_.emplace(pairs_[key].count, ~key);
    }
    fresh_.clear();
  }

  void Merge(uint64_t pair) {
    const auto left_id = static_cast<int32_t>(pair >> 32), right_id = static_cast<int32_t>(pair);
    const auto result = static_cast<int32_t>(model_.tokens.size());
    model_.merges.push_back({left_id, right_id, result});
    model_.tokens.push_back(model_.tokens[static_cast<size_t>(left_id)] + model_.tokens[static_cast<size_t>(right_id)]);
    const std::vector<uint32_t> places = std::move(pairs_[pair].places);
    for (const uint32_t place : places) {
      Symbol& left = symbols_[place];
      if (left.id != left_id || left.after == kEnd || symbols_[left.after].id != right_id) continue;
      Symbol& right = symbols_[left.after];
      Lost(place);
      if (left.before != kEnd) Lost(left.before);
      if (right.after != kEnd) Lost(left.after);
      left.id = result;
      right.id = kGone;
      left.after = right.after;
      if (left.after != kEnd) symbols_[left.after].before = place;
      if (left.before != kEnd) Found(left.before);
      if (left.after != kEnd) Found(place);
    }
    pairs_.erase(pair);
    Queue();
  }

  BpeModel& model_;
  std::vector<Symbol> symbols_;
  std::vector<int64_t> counts_;  // by word
  std::unordered_map<uint64_t, Pair> pairs_;
  std::vector<uint64_t> fresh_;  // pairs that are not in the queue yet
  // Gives the highest count first, then the smallest pair, which is why pairs are stored inverted. A count may be
  // outdated; it is then too high.
  std::priority_queue<std::pair<int64_t, uint64_t>> queue_;
};

}  // namespace

BpeModel TrainBpe(std::string_view text, int64_t vocabulary, size_t threads) {
  if (vocabulary < kSmallest) {
    throw std::invalid_argument("BPE training: a vocabulary of " + std::to_string(vocabulary) +
                                " is too small for the 256 bytes and end of text; ask for at least " +
                                std::to_string(kSmallest));
  }
  BpeModel model;
  for (const unsigned char byte : ByteOrder()) {
    model.byte_ids[byte] = static_cast<int32_t>(model.tokens.size());
    model.tokens.emplace_back(1, static_cast<char>(byte));
  }
  Trainer trainer(CountWords(text, threads), model);
  while (static_cast<int64_t>(model.tokens.size()) < vocabulary - 1) {
    if (trainer.Step()) continue;
    throw std::invalid_argument("BPE training: a vocabulary of " + std::to_string(vocabulary) +
                                " is too large for this text, in which no further pair occurs twice; ask for at most " +
                                std::to_string(model.tokens.size() + 1) + ", or train on more text");
  }
  model.end_of_text = static_cast<int32_t>(model.tokens.size());
  model.tokens.emplace_back(kEndOfText);
  return model;
}

}  // namespace tra
