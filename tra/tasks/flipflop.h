// Flip-flop language modelling (Liu et al. 2023): a memory of one bit, written, read and otherwise to be left alone.
#ifndef TRA_TASKS_FLIPFLOP_H_
#define TRA_TASKS_FLIPFLOP_H_

#include <cstdint>

namespace tra::flipflop {

// The ids of the paper's authors.
enum Symbol : int32_t { kWrite = 1, kRead = 2, kIgnored = 3, kZero = 4, kOne = 5 };

constexpr int64_t kFewestInstructions = 2;  // a w and an r

}  // namespace tra::flipflop

#endif  // TRA_TASKS_FLIPFLOP_H_
