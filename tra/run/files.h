// Names what a run's folder holds. It has names only, so that any library may include it.
#ifndef TRA_RUN_FILES_H_
#define TRA_RUN_FILES_H_

#include <filesystem>
#include <string>

namespace tra::run_files {

constexpr char kConfig[] = "config.toml";                // the resolved configuration, every key with its meaning
constexpr char kEnvironment[] = "env.json";              // revision, processor, libraries
constexpr char kMetrics[] = "metrics.jsonl";             // a line per logged step and per quick evaluation
constexpr char kEvents[] = "events.out.tfevents.0.tra";  // the same for TensorBoard
constexpr char kResults[] = "results.json";              // scores at the end
constexpr char kDone[] = "DONE";                         // exists if training has finished
constexpr char kFailed[] = "FAILED";                     // exists if it failed; holds the reason
constexpr char kLock[] = "lock";                         // held by the process that trains
constexpr char kCheckpoints[] = "checkpoints";           // a folder with a folder per checkpoint, which holds:
constexpr char kModel[] = "model.safetensors";
constexpr char kOptimizer[] = "optimizer.safetensors";
constexpr char kState[] = "state.json";  // counters, and the SHA-256 of all three

// Returns the path of one of them in a run's folder.
inline std::string In(const std::string& run, const char* name) { return (std::filesystem::path(run) / name).string(); }

}  // namespace tra::run_files

#endif  // TRA_RUN_FILES_H_
