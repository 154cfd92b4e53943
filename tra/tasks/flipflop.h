// The symbols of flip-flop language modelling (Liu et al. 2023): a memory of one bit is written, read and otherwise
// left alone.
#ifndef TRA_TASKS_FLIPFLOP_H_
#define TRA_TASKS_FLIPFLOP_H_

#include <cstdint>

namespace tra::flipflop {

// These are the ids that the paper's authors use.
enum Symbol : int32_t { kWrite = 1, kRead = 2, kIgnored = 3, kZero = 4, kOne = 5 };

constexpr int64_t kFewestInstructions = 2;  // a w and an r

}  // namespace tra::flipflop

#endif  // TRA_TASKS_FLIPFLOP_H_
