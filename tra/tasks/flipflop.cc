#include "tra/tasks/flipflop.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tra/tasks/kinds.h"

namespace tra {
namespace {

using namespace flipflop;

Range Lengths(int64_t /*symbols*/) { return {kFewestInstructions, kLongest}; }

std::vector<std::string> Names(int64_t /*symbols*/) { return {"_", "w", "r", "i", "0", "1"}; }

// Makes pairs of an instruction and a bit: w first, r last, a fair coin after w and i, the last written bit after r.
Example Make(const Recipe& recipe, Random& random) {
  // One random word decides an instruction: its lowest bit is the coin, the other 31 bits choose the instruction.
  const auto ignore = static_cast<uint32_t>(std::llround(recipe.ignore * 0x1p31));
  const uint32_t write = ignore + (0x80000000u - ignore) / 2;
  const int64_t instructions = random.Between(recipe.lengths.low, recipe.lengths.high);
  Example example;
  example.tokens.reserve(static_cast<size_t>(2 * instructions));
  example.supervised.reserve(static_cast<size_t>(2 * instructions));
  int32_t memory = kZero;
  for (int64_t i = 0; i < instructions; ++i) {
    const uint32_t word = random.Word();
    const uint32_t kind = word >> 1;
    int32_t instruction = kind < ignore ? kIgnored : kind < write ? kWrite : kRead;
    if (i == 0) instruction = kWrite;
    if (i == instructions - 1) instruction = kRead;
    const int32_t coin = (word & 1) != 0 ? kOne : kZero;
    if (instruction == kWrite) memory = coin;
    example.Add(instruction);
    example.Add(instruction == kRead ? memory : coin, instruction == kRead);
  }
  return example;
}

// The bit that was written last tells the answer; the w before it is its mark. The query does not have to look at the w
// itself, which comes too early to know the bit.
std::vector<Evidence> FindEvidence(const Example& example) {
  std::vector<Evidence> all;
  size_t written = 0;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    if (example.tokens[at] == kWrite) written = at;
    if (example.supervised[at] != 0) all.push_back({at - 1, {written + 1}, {{written + 1, written}}});
  }
  return all;
}

// Inserts ignored instructions anywhere but at the start and at the end, where a w and an r stand.
std::optional<Stretched> Stretch(const Example& example, int64_t factor, int64_t /*symbols*/, Random& random) {
  std::vector<size_t> gaps;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    const int32_t token = example.tokens[at];
    if (token == kWrite || token == kRead || token == kIgnored) gaps.push_back(at);
  }
  if (gaps.empty()) return std::nullopt;
  const size_t count = static_cast<size_t>(factor - 1) * gaps.size();
  gaps.erase(gaps.begin());
  const auto draw = [&] { return std::vector<int32_t>{kIgnored, kZero + static_cast<int32_t>(random.Below(2))}; };
  return InsertPieces(example, gaps, count, draw, random);
}

std::vector<std::string> Explain(const Example& example, const std::vector<std::string>& names) {
  std::vector<std::string> sentences;
  for (const Evidence& evidence : FindEvidence(example)) {
    const size_t at = evidence.query, written = evidence.links[0].key;
    const size_t between = (at - written) / 2 - 1;
    sentences.push_back("r at " + std::to_string(at) + ": the last w is at " + std::to_string(written) + " and wrote " +
                        names[static_cast<size_t>(example.tokens[written + 1])] + "; " + std::to_string(between) +
                        (between == 1 ? " instruction" : " instructions") + " in between");
  }
  return sentences;
}

}  // namespace

Kind FlipflopKind() {
  return {"the bit after each r",
          "instructions of two symbols",
          {2, 2},
          &Lengths,
          &Names,
          "",
          &Make,
          &Explain,
          &FindEvidence,
          &Stretch};
}

}  // namespace tra
