#include "tra/base/folder.h"

#include <filesystem>
#include <system_error>

#include "tra/base/system_error.h"

namespace tra {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& path, const char* action, const std::error_code& error) {
  throw SystemError(path + ": " + action + ": " + error.message() +
                        (error == std::errc::permission_denied ? "; ask for the right to read it" : ""),
                    error.value());
}

}  // namespace

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) Fail(path, "cannot be listed", error);
  return names;
}

bool Exists(const std::string& path) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) Fail(path, "cannot be looked up", error);
  return exists;
}

}  // namespace tra
