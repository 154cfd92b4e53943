// Applies the merges of byte-level BPE to one piece of text.
#ifndef TRA_TEXT_BPE_MERGER_H_
#define TRA_TEXT_BPE_MERGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tra/text/bpe_model.h"

namespace tra {

// Maps a pair of ids to its merge. Uses open addressing because look-ups are most of the cost of encoding a new word.
class MergeTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit MergeTable(const BpeModel& model);

  uint32_t Rank(int32_t left, int32_t right) const;  // 0 is the best; kNone if the pair has no merge
  int32_t Result(uint32_t rank) const { return results_[rank]; }
  int32_t ByteId(char byte) const { return byte_ids_[static_cast<unsigned char>(byte)]; }

 private:
  struct Entry {
    uint64_t pair;
    uint32_t rank;
  };

  std::vector<Entry> entries_;  // their number is a power of two
  int shift_ = 0;
  std::vector<int32_t> results_;
  std::array<int32_t, 256> byte_ids_;
};

// Gives the result of GPT-2's encoder, which merges all occurrences of the best pair from left to right, then those of
// the next best, until none is left. This class always takes the best and leftmost pair from a heap over a linked list,
// in O(n log n). The result is the same because a merge only makes pairs that rank worse than itself (ParseBpe makes
// sure of that).
class BpeMerger {
 public:
  void Merge(const MergeTable& table, std::string_view piece, std::vector<int32_t>& ids);  // appends to ids

 private:
  struct Symbol {
    int32_t id;
    uint32_t before, after;  // places of the neighbours, kEnd beyond the ends
    uint32_t rank;           // of the pair with the next symbol; kNone if that has no merge or this symbol is gone
  };

  void Rank(const MergeTable& table, uint32_t place);

  std::vector<Symbol> symbols_;  // kept between calls to reuse the memory
  std::vector<uint64_t> heap_;   // rank, then place; entries that a merge has outdated are skipped when they come up
};

}  // namespace tra

#endif  // TRA_TEXT_BPE_MERGER_H_
