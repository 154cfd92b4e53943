// Tells whether a checkpoint belongs to a configuration and its data.
#ifndef TRA_RUN_FINGERPRINT_H_
#define TRA_RUN_FINGERPRINT_H_

#include <cstdint>
#include <map>
#include <string>

#include "tra/run/config.h"

namespace tra {

// Holds what a checkpoint was made with. The names of files and folders are not part of it, because a run may move to
// another machine; what is in them is.
struct Fingerprint {
  std::map<std::string, std::string> config;  // every key and its value as TOML
  std::map<std::string, std::string> data;    // what was read, and its SHA-256

  // False for checkpoints of versions that did not record it: these can be scored, and resumed with a warning, on trust
  // in config.toml.
  bool IsRecorded() const { return !config.empty(); }
};

// Returns a configuration without what only says where files are.
RunConfig WithoutPlaces(RunConfig config);

// Returns the values of all keys, for Fingerprint::config.
std::map<std::string, std::string> FingerprintOf(const RunConfig& config);

// Return for a message what differs, such as "train.lr (0.5, was 0.001)"; empty if nothing does, or if it was not
// recorded. The number of steps may have been changed after `step`, at which the checkpoint was made, but not before.
std::string ConfigDifferences(const RunConfig& now, const Fingerprint& before, int64_t step);
std::string DataDifferences(const std::map<std::string, std::string>& now, const Fingerprint& before);

}  // namespace tra

#endif  // TRA_RUN_FINGERPRINT_H_
