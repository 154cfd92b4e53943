// A trained model with what it was trained on.
#ifndef TRA_CLI_LOADED_RUN_H_
#define TRA_CLI_LOADED_RUN_H_

#include <memory>
#include <string>

#include "tra/model/decoder.h"
#include "tra/run/config.h"

namespace tra::cli {

struct LoadedRun {
  RunConfig config;
  std::shared_ptr<Decoder> model;
  int64_t step = 0;
};

// The model of a run's newest checkpoint. Throws std::runtime_error that says what to do.
LoadedRun LoadRun(const std::string& path);

}  // namespace tra::cli

#endif  // TRA_CLI_LOADED_RUN_H_
