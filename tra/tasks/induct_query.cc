// Makes examples BOS x SEP a b, which ask for the symbol b that follows a in x, a string of different symbols.
#include <algorithm>
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

std::vector<std::string> Explain(const Example& example, const std::vector<std::string>& names) {
  const int32_t asked = example.tokens[example.tokens.size() - 2];
  const auto at = std::find(example.tokens.begin(), example.tokens.end(), asked) - example.tokens.begin();
  const auto name = [&](int32_t token) { return names[static_cast<size_t>(token)]; };
  return {"asked: what follows " + name(asked) + "? It stands at " + std::to_string(at) + ", before " +
          name(example.tokens[static_cast<size_t>(at) + 1])};
}

}  // namespace

Kind InductQueryKind() {
  return {"the last symbol", "symbols of the string", {2, strings::kMostSymbols}, &Lengths, &strings::Names, " ", &Make,
          &Explain};
}

}  // namespace tra
