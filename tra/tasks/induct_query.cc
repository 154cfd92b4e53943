// Makes examples BOS x SEP a b, which ask for the symbol b that follows a in x, a string of different symbols.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tra/tasks/kinds.h"
#include "tra/tasks/strings.h"

namespace tra {
namespace {

Range Lengths(int64_t symbols) { return {2, symbols}; }  // the last symbol has no successor

Example Make(const Recipe& recipe, Random& random) {
  const int64_t length = random.Between(recipe.lengths.low, recipe.lengths.high);
  const std::vector<int32_t> x = strings::DrawUnique(length, recipe.symbols, random);
  const size_t asked = random.Below(static_cast<uint32_t>(length - 1));
  Example example;
  example.Add(strings::kBegin);
  for (const int32_t symbol : x) example.Add(symbol);
  example.Add(strings::kSeparator);
  example.Add(x[asked]);
  example.Add(x[asked + 1], true);
  return example;
}

// The successor of the symbol that is asked for tells the answer; that symbol is its mark.
std::vector<Evidence> FindEvidence(const Example& example) {
  std::vector<Evidence> all;
  auto begin = example.tokens.begin();
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    const auto here = example.tokens.begin() + static_cast<ptrdiff_t>(at);
    if (*here == strings::kBegin) begin = here;
    if (example.supervised[at] == 0) continue;
    const auto asked = static_cast<size_t>(std::find(begin, here, example.tokens[at - 1]) - example.tokens.begin());
    all.push_back({at - 1, {asked + 1}, {{asked + 1, asked}}});
  }
  return all;
}

// Inserts symbols that the example does not have anywhere in x but before the answer.
std::optional<Stretched> Stretch(const Example& example, int64_t factor, int64_t symbols, Random& random) {
  std::vector<size_t> gaps;
  bool in_x = false;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    if (in_x) gaps.push_back(at);
    if (example.tokens[at] == strings::kBegin) in_x = true;
    if (example.tokens[at] == strings::kSeparator) in_x = false;
  }
  const std::vector<Evidence> evidence = FindEvidence(example);
  const size_t count = static_cast<size_t>(factor - 1) * (gaps.size() - evidence.size());  // SEP is no symbol of x
  for (const Evidence& each : evidence) gaps.erase(std::find(gaps.begin(), gaps.end(), each.keys[0]));
  const std::optional<std::vector<int32_t>> more = strings::DrawUnused(example.tokens, count, symbols, random);
  if (!more) return std::nullopt;
  auto next = more->begin();
  return InsertPieces(
      example, gaps, count, [&] { return std::vector<int32_t>{*next++}; }, random);
}

std::vector<std::string> Explain(const Example& example, const std::vector<std::string>& names) {
  const size_t key = FindEvidence(example).back().keys[0];
  const auto name = [&](size_t at) { return names[static_cast<size_t>(example.tokens[at])]; };
  return {"asked: what follows " + name(key - 1) + "? It stands at " + std::to_string(key - 1) + ", before " +
          name(key)};
}

}  // namespace

Kind InductQueryKind() {
  return {"the last symbol",
          "symbols of the string",
          {2, strings::kMostSymbols},
          &Lengths,
          &strings::Names,
          " ",
          &Make,
          &Explain,
          &FindEvidence,
          &Stretch};
}

}  // namespace tra
