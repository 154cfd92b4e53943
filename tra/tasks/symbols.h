// Examples typed by hand: the tokens that a text names.
#ifndef TRA_TASKS_SYMBOLS_H_
#define TRA_TASKS_SYMBOLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tra/tasks/task.h"

namespace tra {

// What ExampleText writes, read back. Blanks may stand between any two names, and must where the task writes them;
// where it writes none ("w1i0r") the longest name that fits is taken. `names` are of all tokens, by id. Throws
// std::invalid_argument with the name nearest to one that is unknown.
std::vector<int32_t> ParseSymbols(std::string_view text, const Task& task, const std::vector<std::string>& names);

}  // namespace tra

#endif  // TRA_TASKS_SYMBOLS_H_
