// Trains tiny runs to look into.
#ifndef TRA_TESTS_INSPECT_TRAINED_H_
#define TRA_TESTS_INSPECT_TRAINED_H_

#include <string>

#include "tests/base/files.h"
#include "tra/run/config.h"
#include "tra/train/train_run.h"

namespace tra::testing {

// Trains a model of flip-flop for a moment, in a folder named as its attention, and returns the folder.
inline std::string TrainFlipFlop(const TemporaryDirectory& directory, const std::string& attention) {
  RunPlace place;
  place.path = directory / attention;
  const std::string toml = "[model]\nlayers = 2\nheads = 2\nwidth = 16\nattention = \"" + attention +
                           "\"\n[data]\ntask = \"flipflop\"\nlengths = [32, 32]\n"
                           "[train]\nsteps = 2\nbatch = 2\n[eval]\nexamples = 2\nsplits = [\"iid\"]\n";
  TrainRun(ParseConfig(toml, {}, attention + ".toml"), place, {});
  return place.path;
}

}  // namespace tra::testing

#endif  // TRA_TESTS_INSPECT_TRAINED_H_
