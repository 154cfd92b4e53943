// Checkpoints: RUN/checkpoints/step-N/{model,optimizer}.safetensors and state.json.
//
// A checkpoint appears under its name when all of it is on the disk. state.json has the SHA-256 of the other two files
// and of itself, so that one that was damaged later is noticed, and the one before it is used.
#ifndef TRA_TRAIN_CHECKPOINT_H_
#define TRA_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"

namespace tra {

// What a run has to remember beside weights and the optimiser's state.
struct Progress {
  int64_t step = 0;           // steps taken
  int64_t target_hits = 0;    // quick evaluations in a row that reached the target
  double loss_mean = 0.0;     // running mean of the loss, for spikes
  int64_t tokens = 0;         // positions trained on
  int64_t metrics_bytes = 0;  // of metrics.jsonl and of the TensorBoard events: what came later is cut off
  int64_t events_bytes = 0;
};

// Of the parameters in the order of the optimiser's groups: `names`. Keeps the newest `keep`.
void SaveCheckpoint(const std::string& run, const Decoder& model, const std::vector<std::string>& names,
                    const AdamW& optimizer, const Progress& progress, int64_t keep);

using Warning = std::function<void(const std::string&)>;

// The newest sound one, into the model and the optimiser; nothing if there is none. Damaged ones are said to `warning`
// and put aside as damaged-step-N: for the process that trains. Throws std::runtime_error if all are damaged.
std::optional<Progress> LoadCheckpoint(const std::string& run, Decoder& model, const std::vector<std::string>& names,
                                       AdamW& optimizer, const Warning& warning);

struct SoundCheckpoint {
  std::string path;  // of its folder
  int64_t step;
};

// The newest one whose model is as it was saved, or nothing: for those who read. Damaged ones are said to `warning`.
// Throws std::runtime_error if all are damaged.
std::optional<SoundCheckpoint> NewestSoundModel(const std::string& run, const Warning& warning);

// The folder of the newest checkpoint, or nothing: its name only, for messages.
std::optional<std::string> NewestCheckpoint(const std::string& run);

}  // namespace tra

#endif  // TRA_TRAIN_CHECKPOINT_H_
