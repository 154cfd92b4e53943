#include "tra/cli/loaded_run.h"

#include <stdexcept>

#include "tra/model/weights.h"
#include "tra/run/directory.h"
#include "tra/train/checkpoint.h"

namespace tra::cli {

LoadedRun LoadRun(const std::string& path) {
  if (!IsRun(path)) throw std::runtime_error(path + ": is no run (it has no config.toml); tra train makes one");
  const auto checkpoint = NewestCheckpoint(path);
  if (!checkpoint) {
    throw std::runtime_error(path + ": has no checkpoint yet; train it first: tra train " + path + " --resume");
  }
  LoadedRun run;
  run.config = ReadRunConfig(path);
  run.model = LoadModel(*checkpoint + "/model.safetensors");
  run.step = std::stoll(checkpoint->substr(checkpoint->rfind('-') + 1));
  return run;
}

}  // namespace tra::cli
