// Finds the program itself, for code that starts it again.
#ifndef TRA_CLI_PROGRAM_H_
#define TRA_CLI_PROGRAM_H_

#include <filesystem>
#include <string>

namespace tra::cli {

inline std::string ProgramPath() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace tra::cli

#endif  // TRA_CLI_PROGRAM_H_
