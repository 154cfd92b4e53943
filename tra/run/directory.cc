#include "tra/run/directory.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tra/base/atomic_file.h"
#include "tra/run/data.h"
#include "tra/run/environment.h"
#include "tra/run/files.h"

namespace tra {

namespace fs = std::filesystem;
using namespace run_files;  // NOLINT(google-build-using-namespace): the names of this file's subject

void WriteWhole(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.Write(text.data(), text.size());
  file.Commit();
}

bool IsRun(const std::string& path) { return fs::exists(In(path, kConfig)); }
bool IsDone(const std::string& path) { return fs::exists(In(path, kDone)); }
bool HasCheckpoints(const std::string& path) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(In(path, kCheckpoints), missing)) {
    if (entry.path().filename().string().front() != '.') return true;  // a dot marks one that is half written
  }
  return false;
}
RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& set) {
  return ReadConfig(In(path, kConfig), set);
}

std::string ConfigDifferences(const RunConfig& now, const RunConfig& before) {
  RunConfig a = now, b = before;
  const std::vector<ConfigKey> keys = ConfigKeys(a), old = ConfigKeys(b);
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].get() == old[i].get()) continue;
    text += (text.empty() ? "" : ", ") + keys[i].name + " (" + keys[i].get() + ", was " + old[i].get() + ")";
  }
  return text;
}

std::string DefaultRunName(const RunConfig& config) {
  std::string label = config.label.empty() ? "" : "-" + config.label;
  std::replace(label.begin(), label.end(), '/', '-');  // or it would name other folders
  return "runs/" + TaskName(config.data) + "-" + config.model.attention + label + "-s" +
         std::to_string(config.train.seed);
}

RunDirectory::RunDirectory(std::string path, const RunConfig& config, Start start, const std::string& device)
    : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    throw std::runtime_error(path_ + ": cannot be created: " + error.message() + "; choose another folder with --run");
  }
  lock_ = std::make_unique<FileLock>(In(path_, kLock), FileLock::Wait::kNo);
  if (lock_->HeldByAnother()) {
    throw std::runtime_error(path_ +
                             ": another process is training there; wait for it, or choose another folder with --run");
  }
  if (!lock_->HasFile() && !IsDone(path_)) {
    throw std::runtime_error(path_ + ": cannot be written: " + std::generic_category().message(lock_->Error()) +
                             "; make it writable, or choose another folder with --run");
  }
  const bool begun = IsRun(path_) && (IsDone(path_) || HasCheckpoints(path_));
  if (start == Start::kNew && begun) {
    throw std::runtime_error(path_ +
                             ": holds a run already; continue it with --resume, or choose another folder with --run");
  }
  if (begun) {
    const std::string differences = ConfigDifferences(config, ReadRunConfig(path_));
    if (!differences.empty()) {
      throw std::invalid_argument(path_ + ": was started with another configuration: " + differences +
                                  "; resume with the one it has (tra train " + path_ + " --resume), or start another");
    }
  } else {
    WriteWhole(In(path_, kEnvironment), EnvironmentJson(device));
    WriteWhole(In(path_, kConfig), ConfigToml(config));
  }
  fs::remove(In(path_, kFailed), error);  // fails in a read-only folder, which does no harm
}

void RunDirectory::Finish(const std::string& how) { WriteWhole(In(path_, kDone), how + "\n"); }

void RunDirectory::Fail(const std::string& why) {
  try {
    WriteWhole(In(path_, kFailed), why + "\n");
  } catch (const std::runtime_error&) {  // the user should see the original failure
  }
}

}  // namespace tra
