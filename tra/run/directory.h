// Manages a run's folder: config.toml, env.json, metrics.jsonl, TensorBoard events, checkpoints/, results.json, and
// DONE or FAILED.
#ifndef TRA_RUN_DIRECTORY_H_
#define TRA_RUN_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tra/base/file_lock.h"
#include "tra/run/config.h"

namespace tra {

class RunDirectory {
 public:
  enum class Start : uint8_t { kNew, kResume };

  // Opens and locks the folder for the process that trains in it. A new run needs a folder without a run; a resumed run
  // must have been started with the same configuration, which config.toml and its checkpoints know. A run that has
  // saved nothing yet does not count as one; a config.toml that is not of a run is not overwritten. Throws
  // std::runtime_error or std::invalid_argument that says what to do.
  RunDirectory(std::string path, const RunConfig& config, Start start, const std::string& device = "cpu");

  // Changes the number of steps of a run that has begun, also of one that is done, from its newest checkpoint on, and
  // records that in config.toml. Returns what changed, for a message; empty if the run has this number already. Throws
  // std::invalid_argument for one that it has passed.
  std::string Extend(int64_t steps);

  const std::string& path() const { return path_; }
  const RunConfig& config() const { return config_; }
  bool Locked() const { return lock_->Error() == 0; }  // false if the file system does not support locks
  void Finish(const std::string& how);                 // writes DONE
  void Fail(const std::string& why);                   // writes FAILED, if it can

 private:
  void CheckBegun() const;
  void Begin(const std::string& device) const;

  std::string path_;
  RunConfig config_;
  std::unique_ptr<FileLock> lock_;
};

bool IsRun(const std::string& path);   // has a config.toml
bool IsDone(const std::string& path);  // training has finished
bool HasCheckpoints(const std::string& path);
RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& set = {});

// Returns what differs, for a message: "train.lr (0.001, was 0.01)"; empty if nothing does.
std::string ConfigDifferences(const RunConfig& now, const RunConfig& before);

// Returns runs/TASK-ATTENTION[-LABEL]-sSEED.
std::string DefaultRunName(const RunConfig& config);

void WriteWhole(const std::string& path, const std::string& text);

}  // namespace tra

#endif  // TRA_RUN_DIRECTORY_H_
