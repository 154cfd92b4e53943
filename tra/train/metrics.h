// Writes what a run measures as it goes: RUN/metrics.jsonl, and the same for TensorBoard.
#ifndef TRA_TRAIN_METRICS_H_
#define TRA_TRAIN_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tra/run/config.h"

namespace tra {

// Appends to a file, which it can first cut back to its length at a checkpoint.
class AppendFile {
 public:
  // Returns how many of these bytes, from the first on, are whole entries: lines, or records.
  using WholeEntries = std::function<size_t(std::string_view)>;
  using Warning = std::function<void(const std::string&)>;

  // Opens a file and keeps its first `keep` bytes. If it has fewer, or if an entry ends beyond them, something else has
  // changed it: then only whole entries are kept, and `warning` is told. Throws std::runtime_error that begins with the
  // path.
  AppendFile(std::string path, int64_t keep, const WholeEntries& whole, const Warning& warning);
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

  // Opens the files of a run and cuts them back to these lengths. A file for TensorBoard that begins anew begins with
  // the configuration.
  Metrics(const std::string& run, int64_t metrics_bytes, int64_t events_bytes, const RunConfig& config,
          const AppendFile::Warning& warning);

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
