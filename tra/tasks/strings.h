// Helpers of the tasks on strings of symbols. Their examples begin with BOS x SEP, and then ask something about x.
#ifndef TRA_TASKS_STRINGS_H_
#define TRA_TASKS_STRINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "tra/tasks/task.h"

namespace tra::strings {

enum Mark : int32_t { kBegin = 1, kSeparator = 2, kEnd = 3, kFirstSymbol = 4 };

constexpr int64_t kMostSymbols = 100'000;

// Returns the names of all tokens: PAD, BOS, SEP, EOS, then the symbols as numbers.
std::vector<std::string> Names(int64_t symbols);

// Draw a string of symbols that may repeat, or that each occur at most once.
std::vector<int32_t> Draw(int64_t length, int64_t symbols, Random& random);
std::vector<int32_t> DrawUnique(int64_t length, int64_t symbols, Random& random);

// Draws different symbols that are not among the tokens; nothing if there are not as many as `count`.
std::optional<std::vector<int32_t>> DrawUnused(const std::vector<int32_t>& tokens, size_t count, int64_t symbols,
                                               Random& random);

}  // namespace tra::strings

#endif  // TRA_TASKS_STRINGS_H_
