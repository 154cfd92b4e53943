#include "tra/text/bpe_merger.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace tra {
namespace {

constexpr uint32_t kEnd = ~uint32_t{0};
constexpr uint32_t kLong = 1 << 16;
constexpr uint64_t kFree = ~uint64_t{0};  // an empty slot; no pair has this key, as ids are not negative

uint64_t PairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

size_t Slot(uint64_t pair, int shift) { return (pair * 0x9E3779B97F4A7C15u) >> shift; }

}  // namespace

MergeTable::MergeTable(const BpeModel& model) : byte_ids_(model.byte_ids) {
  int bits = 4;
  while ((size_t{1} << bits) < 2 * model.merges.size()) ++bits;
  shift_ = 64 - bits;
  entries_.assign(size_t{1} << bits, {kFree, kNone});
  for (const BpeModel::Merge& merge : model.merges) {
    const uint64_t pair = PairKey(merge.left, merge.right);
    size_t slot = Slot(pair, shift_);
    while (entries_[slot].pair != kFree) slot = (slot + 1) % entries_.size();
    entries_[slot] = {pair, static_cast<uint32_t>(results_.size())};
    results_.push_back(merge.result);
  }
}

uint32_t MergeTable::Rank(int32_t left, int32_t right) const {
  const uint64_t pair = PairKey(left, right);
  size_t slot = Slot(pair, shift_);
  while (entries_[slot].pair != kFree && entries_[slot].pair != pair) slot = (slot + 1) & (entries_.size() - 1);
  return entries_[slot].rank;
}

void BpeMerger::Rank(const MergeTable& table, uint32_t place) {
  Symbol& symbol = symbols_[place];
  symbol.rank = symbol.after == kEnd ? MergeTable::kNone : table.Rank(symbol.id, symbols_[symbol.after].id);
  if (symbol.rank == MergeTable::kNone) return;
  heap_.push_back(static_cast<uint64_t>(symbol.rank) << 32 | place);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void BpeMerger::Merge(const MergeTable& table, std::string_view piece, std::vector<int32_t>& ids) {
  if (piece.size() >= kEnd) throw std::length_error("tokenizer: 4 GB without a break; put spaces into the text");
  const auto size = static_cast<uint32_t>(piece.size());
  symbols_.resize(size);
  heap_.clear();
  for (uint32_t i = 0; i < size; ++i) {
    symbols_[i] = {table.ByteId(piece[i]), i == 0 ? kEnd : i - 1, i + 1 == size ? kEnd : i + 1, MergeTable::kNone};
  }
  for (uint32_t i = 0; i < size; ++i) Rank(table, i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto rank = static_cast<uint32_t>(heap_.back() >> 32), place = static_cast<uint32_t>(heap_.back());
    heap_.pop_back();
    Symbol& left = symbols_[place];
    if (left.rank != rank) continue;  // one of its symbols has been merged since
    Symbol& right = symbols_[left.after];
    right.rank = MergeTable::kNone;
    left.id = table.Result(rank);
    left.after = right.after;
    if (left.after != kEnd) symbols_[left.after].before = place;
    Rank(table, place);
    if (left.before != kEnd) Rank(table, left.before);
  }
  for (uint32_t i = 0; i < size; i = symbols_[i].after) ids.push_back(symbols_[i].id);
  if (size > kLong) *this = BpeMerger();  // keeps memory for words, frees that for megabytes
}

}  // namespace tra
