// Makes examples longer by tokens that change no answer.
#ifndef TRA_TASKS_STRETCH_H_
#define TRA_TASKS_STRETCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tra/tasks/example.h"
#include "tra/tasks/random.h"

namespace tra {

struct Stretched {
  Example example;
  std::vector<size_t> places;  // where each token of the original went
};

// Inserts as many pieces as `count` says, each in a gap that is drawn uniformly; a gap is named by the token after it.
// `draw_piece` returns the tokens of the next piece.
Stretched InsertPieces(const Example& example, const std::vector<size_t>& gaps, size_t count,
                       const std::function<std::vector<int32_t>()>& draw_piece, Random& random);

}  // namespace tra

#endif  // TRA_TASKS_STRETCH_H_
