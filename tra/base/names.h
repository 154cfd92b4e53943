// What to say of a name that nothing has.
#ifndef TRA_BASE_NAMES_H_
#define TRA_BASE_NAMES_H_

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tra {

// "unknown task 'copi'; did you mean 'copy'? There are flipflop, induct, copy": without the question where no name is
// near.
std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known);

// The same for names that are too many to list: "; see HELP" in place of the list.
std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known,
                        const std::string& help);

// "; did you mean 'copy'?", or nothing where no name is near.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& known);

// The row of a table that has the name. Throws std::invalid_argument with what UnknownName says.
template <typename Row>
const Row& FindNamed(const std::string& kind, std::string_view name, const std::vector<Row>& table) {
  std::vector<std::string> known;
  for (const Row& each : table) {
    if (name == each.name) return each;
    known.emplace_back(each.name);
  }
  throw std::invalid_argument(UnknownName(kind, std::string(name), known));
}

}  // namespace tra

#endif  // TRA_BASE_NAMES_H_
