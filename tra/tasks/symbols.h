// Reads examples that are typed by hand.
#ifndef TRA_TASKS_SYMBOLS_H_
#define TRA_TASKS_SYMBOLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tra/tasks/task.h"

namespace tra {

// Says how the symbols of a task are written.
struct Symbols {
  std::string task;                // for messages
  std::string separator;           // between names; may be empty
  std::vector<std::string> names;  // of all tokens, by id
  std::string help;                // the command that shows examples
};

// Returns the tokens that a text names, as ExampleText writes it. Blanks may stand between any two names, and must
// where the task writes them; where it writes none ("w1i0r"), the longest name that fits is taken. For an unknown name,
// throws std::invalid_argument that suggests the nearest one.
std::vector<int32_t> ParseSymbols(std::string_view text, const Symbols& symbols);
std::vector<int32_t> ParseSymbols(std::string_view text, const Task& task, const std::vector<std::string>& names);

}  // namespace tra

#endif  // TRA_TASKS_SYMBOLS_H_
