// Looks at folders, and keeps "it is not there" apart from "the system would not say".
#ifndef TRA_BASE_FOLDER_H_
#define TRA_BASE_FOLDER_H_

#include <string>
#include <vector>

namespace tra {

// Returns the names in a folder, in no order; none if there is no such folder. Throws SystemError if it cannot be
// listed.
std::vector<std::string> ListFolder(const std::string& path);

// Says whether there is such a file or folder. Throws SystemError if the system does not tell.
bool Exists(const std::string& path);

}  // namespace tra

#endif  // TRA_BASE_FOLDER_H_
