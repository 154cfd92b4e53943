// What a command is given to work on.
#ifndef TRA_CLI_INPUT_H_
#define TRA_CLI_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tra::cli {

struct Input {
  std::string text;
  std::string from;       // for messages: an option, a file, standard input
  bool argument = false;  // was typed

  // What was typed wrong is bad usage (std::invalid_argument), what was read a failure (std::runtime_error).
  [[noreturn]] void Fail(const std::string& what) const;
};

Input Argument(const std::string& option, const std::string& text);
Input ReadInput(const std::string& path);  // -: standard input

// A JSON array of ids, [15496,995].
std::vector<int32_t> ParseIds(const Input& input);

// Such an array, or an array of them that are equally long.
struct IdRows {
  std::vector<std::vector<int32_t>> rows;  // at least one
  bool nested = false;
};
IdRows ParseIdRows(const Input& input);

// Throws std::invalid_argument for one that no token of a model has.
void CheckIds(const std::vector<int32_t>& ids, int64_t vocabulary);

}  // namespace tra::cli

#endif  // TRA_CLI_INPUT_H_
