#include "tra/kernels/cross_entropy_check.h"

#include <stdexcept>
#include <string>

namespace tra {

void CheckTargets(const int64_t* targets, size_t rows, size_t classes) {
  for (size_t row = 0; row < rows; ++row) {
    if (targets[row] >= 0 && static_cast<size_t>(targets[row]) < classes) continue;
    throw std::invalid_argument("cross_entropy: target " + std::to_string(targets[row]) + " in row " +
                                std::to_string(row) + " is not one of the " + std::to_string(classes) +
                                " classes; leave out rows that have no target");
  }
}

}  // namespace tra
