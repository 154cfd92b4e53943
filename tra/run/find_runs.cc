#include "tra/run/find_runs.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "tra/run/files.h"
#include "tra/run/sweep.h"

namespace tra {

namespace fs = std::filesystem;

std::vector<std::string> FindFiles(const std::vector<std::string>& paths, const std::set<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& given : paths) {
    const std::string path = fs::path(given).extension() == ".toml" ? ReadSweep(given).folder : given;
    if (fs::is_regular_file(path)) {
      files.push_back(path);
    } else if (fs::is_directory(path)) {
      for (const auto& each : fs::recursive_directory_iterator(path)) {
        if (names.count(each.path().filename().string()) > 0) files.push_back(each.path().string());
      }
    } else {
      throw std::runtime_error(path + ": no such file or folder; check the path");
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> FindRuns(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  for (const std::string& file : FindFiles(paths, {run_files::kResults, run_files::kConfig})) {
    const fs::path folder = fs::path(file).lexically_normal().parent_path();  // the same however it was reached
    folders.insert(folder.empty() ? "." : folder.string());
  }
  if (folders.empty()) {
    throw std::runtime_error(paths[0] + (paths.size() > 1 ? " and others: there are" : ": there are") +
                             " no runs in or below it; tra train and tra sweep make them");
  }
  return {folders.begin(), folders.end()};
}

}  // namespace tra
