#include "tra/tasks/strings.h"

#include <numeric>
#include <utility>

namespace tra::strings {

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
  std::vector<int32_t> x(static_cast<size_t>(symbols));
  std::iota(x.begin(), x.end(), int32_t{kFirstSymbol});
  for (size_t i = 0; i < static_cast<size_t>(length); ++i) {  // a Fisher-Yates shuffle, as far as needed
    std::swap(x[i], x[i + random.Below(static_cast<uint32_t>(x.size() - i))]);
  }
  x.resize(static_cast<size_t>(length));
  return x;
}

}  // namespace tra::strings
