#include "tra/tasks/stretch.h"

#include <stdexcept>

namespace tra {

Stretched InsertPieces(const Example& example, const std::vector<size_t>& gaps, size_t count,
                       const std::function<std::vector<int32_t>()>& draw_piece, Random& random) {
  if (count > 0 && gaps.empty()) throw std::invalid_argument("the example has no place for more tokens");
  std::vector<size_t> pieces(example.tokens.size());  // by the token after them
  for (size_t i = 0; i < count; ++i) ++pieces[gaps[random.Below(static_cast<uint32_t>(gaps.size()))]];
  Stretched stretched;
  stretched.example.group = example.group;
  for (size_t at = 0; at < example.tokens.size(); ++at) {
    for (size_t i = 0; i < pieces[at]; ++i) {
      for (const int32_t token : draw_piece()) stretched.example.Add(token);
    }
    stretched.places.push_back(stretched.example.tokens.size());
    stretched.example.Add(example.tokens[at], example.supervised[at] != 0);
  }
  return stretched;
}

}  // namespace tra
