// Makes examples BOS x SEP x EOS, which ask a model to copy the string x. Its symbols may repeat (`copy`) or are all
// different (`induct`: each symbol alone then determines its successor, which is what an induction head looks up).
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tra/tasks/kinds.h"
#include "tra/tasks/strings.h"

namespace tra {
namespace {

Example Copy(const std::vector<int32_t>& x) {
  Example example;
  example.tokens.reserve(2 * x.size() + 3);
  example.supervised.reserve(2 * x.size() + 3);
  example.Add(strings::kBegin);
  for (const int32_t symbol : x) example.Add(symbol);
  example.Add(strings::kSeparator);
  for (const int32_t symbol : x) example.Add(symbol, true);
  example.Add(strings::kEnd, true);
  return example;
}

Range Lengths(int64_t /*symbols*/) { return {1, kLongest}; }
Range UniqueLengths(int64_t symbols) { return {1, symbols}; }

Example Make(const Recipe& recipe, Random& random) {
  const int64_t length = random.Between(recipe.lengths.low, recipe.lengths.high);
  return Copy(strings::Draw(length, recipe.symbols, random));
}

Example MakeUnique(const Recipe& recipe, Random& random) {
  const int64_t length = random.Between(recipe.lengths.low, recipe.lengths.high);
  return Copy(strings::DrawUnique(length, recipe.symbols, random));
}

std::vector<std::string> Explain(const Example& example, const std::vector<std::string>& /*names*/) {
  const auto begin = example.tokens.begin() + 1;
  const auto end = std::find(begin, example.tokens.end(), strings::kSeparator);
  std::map<int32_t, int64_t> count;
  for (auto at = begin; at != end; ++at) ++count[*at];
  int64_t unclear = 0;  // answers that follow a symbol that x has more than once
  for (auto at = begin; at + 1 < end; ++at) unclear += count[*at] > 1 ? 1 : 0;
  const std::string length = std::to_string(end - begin);
  return {"the " + length + " symbols between BOS and SEP come again in the same order, then EOS",
          unclear == 0 ? "no symbol repeats: each answer is told by the symbol before it"
                       : std::to_string(unclear) + " of the " + length +
                             " answers follow a symbol that stands in the string more than once: it takes more history "
                             "to tell which"};
}

// The n-th answer is the n-th symbol of x, which the symbol before it marks. Where x ends stands SEP: there, it tells
// that EOS comes next. In `copy`, which repeats symbols, such a mark is necessary but does not suffice.
std::vector<Evidence> FindEvidence(const Example& example) {
  std::vector<Evidence> all;
  size_t key = 0;  // of the next answer
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    if (example.tokens[at] == strings::kBegin) key = at + 1;
    if (example.supervised[at] == 0) continue;
    all.push_back({at - 1, {key}, {{key, key - 1}}});
    ++key;
  }
  return all;
}

constexpr char kSupervision[] = "every symbol after SEP";
constexpr char kLengthOf[] = "symbols of the string";

}  // namespace

Kind CopyKind() {
  return {kSupervision,  kLengthOf, {1, strings::kMostSymbols}, &Lengths, &strings::Names, " ", &Make, &Explain,
          &FindEvidence, nullptr};
}

Kind InductKind() {
  return {
      kSupervision,  kLengthOf, {1, strings::kMostSymbols}, &UniqueLengths, &strings::Names, " ", &MakeUnique, &Explain,
      &FindEvidence, nullptr};
}

}  // namespace tra
