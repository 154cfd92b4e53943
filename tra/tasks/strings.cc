#include "tra/tasks/strings.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace tra::strings {
namespace {

// Draws some of x, in any order.
std::vector<int32_t> Choose(std::vector<int32_t> x, size_t count, Random& random) {
  for (size_t i = 0; i < count; ++i) {  // a Fisher-Yates shuffle, as far as needed
    std::swap(x[i], x[i + random.Below(static_cast<uint32_t>(x.size() - i))]);
  }
  x.resize(count);
  return x;
}

std::vector<int32_t> AllSymbols(int64_t symbols) {
  std::vector<int32_t> x(static_cast<size_t>(symbols));
  std::iota(x.begin(), x.end(), int32_t{kFirstSymbol});
  return x;
}

}  // namespace

std::vector<std::string> Names(int64_t symbols) {
  std::vector<std::string> names = {"PAD", "BOS", "SEP", "EOS"};
  for (int64_t i = 0; i < symbols; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<int32_t> Draw(int64_t length, int64_t symbols, Random& random) {
  std::vector<int32_t> x(static_cast<size_t>(length));
  for (int32_t& each : x) each = kFirstSymbol + static_cast<int32_t>(random.Below(static_cast<uint32_t>(symbols)));
  return x;
}

std::vector<int32_t> DrawUnique(int64_t length, int64_t symbols, Random& random) {
  return Choose(AllSymbols(symbols), static_cast<size_t>(length), random);
}

std::optional<std::vector<int32_t>> DrawUnused(const std::vector<int32_t>& tokens, size_t count, int64_t symbols,
                                               Random& random) {
  std::vector<int32_t> unused = AllSymbols(symbols);
  const std::set<int32_t> used(tokens.begin(), tokens.end());
  unused.erase(std::remove_if(unused.begin(), unused.end(), [&](int32_t each) { return used.count(each) > 0; }),
               unused.end());
  if (unused.size() < count) return std::nullopt;
  return Choose(std::move(unused), count, random);
}

}  // namespace tra::strings
