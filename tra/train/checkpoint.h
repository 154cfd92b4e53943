// Writes checkpoints and loads them to continue a run; tra/run/checkpoints.h says what they are.
#ifndef TRA_TRAIN_CHECKPOINT_H_
#define TRA_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tra/model/decoder.h"
#include "tra/ops/adamw.h"
#include "tra/run/checkpoints.h"

namespace tra {

// Saves a checkpoint, makes checkpoints/latest point to it, and keeps the newest `keep`. `names` has the names of the
// parameters in the order of the optimiser's groups.
void SaveCheckpoint(const std::string& run, const Decoder& model, const std::vector<std::string>& names,
                    const AdamW& optimizer, const TrainingState& state, int64_t keep);

// Loads the newest sound checkpoint into the model and the optimiser; returns nothing if there is none. Damaged ones
// are reported to `warning` and renamed to damaged-step-N. Throws std::runtime_error if all are damaged, and
// std::invalid_argument that names the keys if it was made with another configuration or with other data than `data`
// (Fingerprint::data).
std::optional<TrainingState> LoadCheckpoint(const std::string& run, const RunConfig& config,
                                            const std::map<std::string, std::string>& data, Decoder& model,
                                            const std::vector<std::string>& names, AdamW& optimizer,
                                            const Warning& warning);

}  // namespace tra

#endif  // TRA_TRAIN_CHECKPOINT_H_
