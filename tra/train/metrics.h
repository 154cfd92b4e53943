// Writes what a run measures as it goes: RUN/metrics.jsonl, and the same for TensorBoard.
#ifndef TRA_TRAIN_METRICS_H_
#define TRA_TRAIN_METRICS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tra/run/config.h"

namespace tra {

// Appends to a file, which it can first cut back to its length at a checkpoint.
class AppendFile {
 public:
  // Opens a file and keeps its first `keep` bytes. Throws std::runtime_error that begins with the path.
  AppendFile(std::string path, int64_t keep);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void Append(const std::string& bytes);
  int64_t Bytes() const { return bytes_; }

 private:
  [[noreturn]] void Fail(const char* action, int error) const;

  std::string path_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

class Metrics {
 public:
  using Values = std::vector<std::pair<std::string, double>>;

  // Keeps what was written up to a checkpoint. A file for TensorBoard that begins anew begins with the configuration.
  Metrics(const std::string& run, int64_t metrics_bytes, int64_t events_bytes, const RunConfig& config);

  // Writes values with the time in seconds since 1970, as "wall_time". Besides that time, and the rates that are named
  // so, a run that was stopped and resumed writes the same as one that was not.
  void Write(int64_t step, const Values& values);
  void Finish();  // says to TensorBoard that the run has ended; its last values are its final ones
  int64_t MetricsBytes() const { return lines_.Bytes(); }
  int64_t EventsBytes() const { return events_.Bytes(); }

 private:
  AppendFile lines_, events_;
};

}  // namespace tra

#endif  // TRA_TRAIN_METRICS_H_
