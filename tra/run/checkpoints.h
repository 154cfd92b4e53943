// Reads checkpoints: RUN/checkpoints/step-N/{model,optimizer}.safetensors and state.json. tra/train/checkpoint.h writes
// them.
//
// A checkpoint appears under its name only when all of it is on the disk. state.json has the SHA-256 of all three
// files, so that a checkpoint that was damaged later is noticed, and the one before it is used.
#ifndef TRA_RUN_CHECKPOINTS_H_
#define TRA_RUN_CHECKPOINTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tra/run/fingerprint.h"

namespace tra {

// Holds what a run has to remember besides the weights and the optimiser's state.
struct TrainingState {
  int64_t step = 0;           // steps taken
  int64_t target_hits = 0;    // quick evaluations in a row that reached the target
  double loss_mean = 0.0;     // running mean of the loss, for spikes
  int64_t tokens = 0;         // positions trained on
  int64_t metrics_bytes = 0;  // lengths of metrics.jsonl and of the TensorBoard events; a resume cuts off the rest
  int64_t events_bytes = 0;
  int64_t threads = 0, processes = 0;  // that the last step was computed with; 0: not recorded
  Fingerprint made_with;
};

struct Checkpoint {
  int64_t step;
  std::string path;  // of its folder
};

// Returns all checkpoints of a run, going by their names, the newest first. There are none only if the run has no such
// folder, or nothing in it: one that cannot be listed throws SystemError, because the run may have begun.
std::vector<Checkpoint> ListCheckpoints(const std::string& run);

// Returns the path of the checkpoint of this step, and of the folder that becomes it once everything is written.
std::string CheckpointPath(const std::string& run, int64_t step);
std::string UnfinishedPath(const std::string& run, int64_t step);

// Removes checkpoints that a killed process left unfinished. Only the process that trains may call it.
void RemoveUnfinished(const std::string& run);

// Returns the text of state.json for a checkpoint whose other files lie in `folder`: the state, and the checksums of
// all three.
std::string StateJson(const TrainingState& state, const std::string& folder);

// Reads a checkpoint's state. Throws if it or one of the named files is not as it was saved.
TrainingState ReadState(const Checkpoint& checkpoint, const std::vector<const char*>& files);

struct SoundCheckpoint {
  Checkpoint checkpoint;
  TrainingState state;
  std::vector<Checkpoint> damaged;  // newer checkpoints that are damaged
};

using Warning = std::function<void(const std::string&)>;

// Returns the newest checkpoint whose named files are as they were saved, or nothing if there is no checkpoint. Damaged
// ones are reported to `warning`. Throws std::runtime_error if all are damaged, and SystemError if one cannot be read:
// that is no damage.
std::optional<SoundCheckpoint> FindSoundCheckpoint(const std::string& run, const std::vector<const char*>& files,
                                                   const Warning& warning);

// Throws std::invalid_argument that names the keys if a checkpoint was made with another configuration.
void RequireSameConfig(const Checkpoint& checkpoint, const TrainingState& state, const RunConfig& config);

// Does the same for the configuration of the model that stands in its file.
void RequireSameModel(const std::string& file, const ModelConfig& now, const ModelConfig& in_file);

// Returns the number of threads that a run was last trained with; nothing if it has saved nothing, or if that cannot be
// read: whoever goes on to train it says why.
std::optional<int> RecordedThreads(const std::string& run);

}  // namespace tra

#endif  // TRA_RUN_CHECKPOINTS_H_
