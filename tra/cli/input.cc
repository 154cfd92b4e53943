#include "tra/cli/input.h"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "tra/base/input_file.h"
#include "tra/base/json.h"
#include "tra/base/text.h"

namespace tra::cli {
namespace {

constexpr size_t kMostInput = size_t{256} << 20;  // bytes; ids take eight times that in memory
constexpr char kExpected[] = "; expected a JSON array of ids, such as [15496, 995]";

nlohmann::json ParseArray(const Input& input) {
  nlohmann::json json;
  try {
    json = ParseJson(input.text, kMostInput);
  } catch (const JsonError& error) {
    input.Fail(error.what() + std::string(kExpected));
  }
  if (!json.is_array()) input.Fail(std::string("is not an array") + kExpected);
  return json;
}

std::vector<int32_t> Ids(const nlohmann::json& array, const Input& input) {
  std::vector<int32_t> ids;
  ids.reserve(array.size());
  for (size_t i = 0; i < array.size(); ++i) {
    const bool fits = array[i].is_number_integer() && array[i] >= 0 && array[i] <= INT32_MAX;
    if (!fits) input.Fail("element " + std::to_string(i) + " is " + Shortened(array[i].dump(), 80) + kExpected);
    ids.push_back(array[i].get<int32_t>());
  }
  return ids;
}

}  // namespace

void Input::Fail(const std::string& what) const {
  const std::string message = from + ": " + what;
  if (argument) throw std::invalid_argument(message);
  throw std::runtime_error(message);
}

Input Argument(const std::string& option, const std::string& text) { return {text, option, true}; }

Input ReadInput(const std::string& path) {
  if (path != "-") return {ReadFile(path, kMostInput), path};
  Input input{"", "standard input"};
  std::string block(size_t{1} << 16, '\0');
  while (true) {
    const ssize_t got = read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) input.Fail("cannot be read: " + std::generic_category().message(errno));
    if (got == 0) return input;
    input.text.append(block, 0, static_cast<size_t>(got));
    if (input.text.size() > kMostInput) {
      input.Fail("has more than the " + std::to_string(kMostInput) + " bytes that are read; give it in parts");
    }
  }
}

std::vector<int32_t> ParseIds(const Input& input) { return Ids(ParseArray(input), input); }

IdRows ParseIdRows(const Input& input) {
  const nlohmann::json array = ParseArray(input);
  IdRows result;
  result.nested = !array.empty() && array[0].is_array();
  if (!result.nested) {
    result.rows.push_back(Ids(array, input));
    return result;
  }
  for (size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_array()) input.Fail("element " + std::to_string(i) + " is not an array, but those before it are");
    result.rows.push_back(Ids(array[i], input));
    const size_t first = result.rows[0].size(), size = result.rows[i].size();
    if (size != first) {
      input.Fail("sequence " + std::to_string(i) + " has " + std::to_string(size) + " ids, the first " +
                 std::to_string(first) + "; give sequences of one length, or one at a time");
    }
  }
  return result;
}

void CheckIds(const std::vector<int32_t>& ids, int64_t vocabulary) {
  for (const int32_t id : ids) {
    if (id >= vocabulary) {
      throw std::invalid_argument("id " + std::to_string(id) + " is not in the model's vocabulary; ids are 0.." +
                                  std::to_string(vocabulary - 1));
    }
  }
}

}  // namespace tra::cli
