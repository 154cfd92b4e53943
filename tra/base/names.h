// Finds rows of tables by name, and makes the error message for a name that no row has.
#ifndef TRA_BASE_NAMES_H_
#define TRA_BASE_NAMES_H_

#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tra {

// Returns "unknown task 'copi'; did you mean 'copy'? There are flipflop, induct, copy", without the question if no name
// is close.
std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known);

// Does the same for names that are too many to list: the message ends with "see HELP" instead of the list.
std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known,
                        const std::string& help);

// Returns "; did you mean 'copy'?", or an empty string if no name is close.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& known);

// Tables are vectors or arrays of rows that have a `name`.

template <typename Table>
std::vector<std::string> NamesIn(const Table& table) {
  std::vector<std::string> names;
  names.reserve(std::size(table));
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

// Returns the row that has the name. Throws std::invalid_argument with the message of UnknownName.
template <typename Table>
const auto& FindNamed(std::string_view kind, std::string_view name, const Table& table) {
  for (const auto& row : table) {
    if (name == row.name) return row;
  }
  throw std::invalid_argument(UnknownName(std::string(kind), std::string(name), NamesIn(table)));
}

// A row of a table that names an enum's values.
template <typename T>
struct NamedValue {
  const char* name;
  T value;
};

template <typename Table, typename T>
const char* NameOf(const Table& table, T value) {
  for (const auto& row : table) {
    if (row.value == value) return row.name;
  }
  throw std::logic_error("a value without a name in its table");
}

}  // namespace tra

#endif  // TRA_BASE_NAMES_H_
