// Reads a file that describes many runs: configurations x attentions x settings x seeds.
//
//   configs = ["../small/copy.toml", "../small/induct.toml"]   # relative to the file
//   attentions = ["tra", "rope", "fot"]                        # empty: each configuration's own
//   seeds = [1, 2, 3, 4]
//   set = ["train.steps=2000"]                                 # changes to all runs
//   folder = "runs/small"                                      # relative to where tra is run
//   [for_attention]                                            # changes to the runs of one attention
//   rope = ["train.lr=3e-3"]
//   [grid]                                                     # every combination of the values of any keys
//   "model.heads" = [1, 4]
//   "train.lr" = [3e-4, 1e-3]
//   [variants]                                                 # named changes, one at a time
//   "as it is" = []
//   "no dropout" = ["model.attention_dropout=0"]
//
// The label of a run names its variant and its values of the grid, so that tables tell runs apart: "no dropout,
// heads=4, lr=0.001".
#ifndef TRA_RUN_SWEEP_H_
#define TRA_RUN_SWEEP_H_

#include <string>
#include <vector>

namespace tra {

struct SweepRun {
  std::string name;    // CONFIG-ATTENTION[-SETTING]-sSEED
  std::string folder;  // of the run
  std::string config;  // path of its configuration
  std::vector<std::string> overrides;
};

struct Sweep {
  std::string file, folder;
  std::vector<std::string> overrides;  // in addition to those of the file
  std::vector<SweepRun> runs;
};

// Reads a sweep. Every run's configuration is read and checked now, not when its turn comes. Throws
// std::invalid_argument that names the file, the key and what it may be.
Sweep ReadSweep(const std::string& path, const std::vector<std::string>& overrides = {});

// Says what each job of the array asks for.
struct SlurmOptions {
  int cores = 4;
  std::string time = "24:00:00";
  bool gpu = false;  // one per run
};

// Returns a script for sbatch: a job array with one run per index, each `program sweep FILE --index N` with the sweep's
// overrides.
std::string SlurmScript(const Sweep& sweep, const std::string& program, const SlurmOptions& options);

}  // namespace tra

#endif  // TRA_RUN_SWEEP_H_
