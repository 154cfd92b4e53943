// Loads a trained model, with the configuration of its run if there is one.
#ifndef TRA_RUN_LOADED_RUN_H_
#define TRA_RUN_LOADED_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "tra/model/decoder.h"
#include "tra/run/checkpoints.h"
#include "tra/run/config.h"

namespace tra {

struct LoadedRun {
  RunConfig config;
  std::shared_ptr<Decoder> model;
  int64_t step = 0;
};

// Loads the model of a run's newest sound checkpoint, or of the checkpoint of `step`; at 0, makes the model that
// training began with. Damaged checkpoints are reported to `warning`. Throws std::runtime_error that says what to do,
// and std::invalid_argument for a step that was not saved, or if the checkpoint was made with another configuration
// than config.toml has. Checkpoints of versions that did not record theirs are loaded if at least the model is the
// same.
LoadedRun LoadRun(const std::string& path, at::Device device, const Warning& warning,
                  std::optional<int64_t> step = std::nullopt);

// Holds a model that may come from a file without a run.
struct LoadedModel {
  std::shared_ptr<Decoder> model;
  std::optional<RunConfig> config;  // of its run; nothing for a file
};

// Loads the model of a run's folder as LoadRun does, or of a file such as model.safetensors.
LoadedModel LoadRunOrFile(const std::string& path, at::Device device, const Warning& warning);

// Returns the largest number of tokens in a sequence; nothing for a model that takes any length.
std::optional<int64_t> LongestSequence(const ModelConfig& config);

}  // namespace tra

#endif  // TRA_RUN_LOADED_RUN_H_
