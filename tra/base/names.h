// What to say of a name that nothing has.
#ifndef TRA_BASE_NAMES_H_
#define TRA_BASE_NAMES_H_

#include <string>
#include <vector>

namespace tra {

// "unknown task 'copi'; did you mean 'copy'? There are flipflop, induct, copy": without the question where no name is
// near.
std::string UnknownName(const std::string& kind, const std::string& name, const std::vector<std::string>& known);

}  // namespace tra

#endif  // TRA_BASE_NAMES_H_
