// Reads what a command is given to work on.
#ifndef TRA_CLI_INPUT_H_
#define TRA_CLI_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tra::cli {

struct Input {
  std::string text;
  std::string from;       // for messages: an option, a file, standard input
  bool argument = false;  // typed on the command line

  // Throws std::invalid_argument, for bad usage, if the text was typed, and std::runtime_error, for a failure, if it
  // was read.
  [[noreturn]] void Fail(const std::string& what) const;
};

Input Argument(const std::string& option, const std::string& text);
Input ReadInput(const std::string& path);  // -: standard input

// Parses a JSON array of ids, such as [15496,995].
std::vector<int32_t> ParseIds(const Input& input);

// Holds the ids of such an array, or of an array of several that are equally long.
struct IdRows {
  std::vector<std::vector<int32_t>> rows;  // at least one
  bool nested = false;
};
IdRows ParseIdRows(const Input& input);

// Throws std::invalid_argument for an id that is not in a model's vocabulary.
void CheckIds(const std::vector<int32_t>& ids, int64_t vocabulary);

}  // namespace tra::cli

#endif  // TRA_CLI_INPUT_H_
