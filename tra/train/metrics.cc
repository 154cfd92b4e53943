#include "tra/train/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "tra/base/mapped_file.h"
#include "tra/run/files.h"
#include "tra/train/events.h"

namespace tra {
namespace {

size_t WholeLines(std::string_view text) { return text.rfind('\n') + 1; }  // npos + 1 is 0

double WallTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

double ToMilliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }

Hyperparameters HyperparametersOf(RunConfig config) {
  Hyperparameters all;
  for (const ConfigKey& key : ConfigKeys(config)) all.emplace_back(key.name, nlohmann::json::parse(key.get()));
  return all;
}

}  // namespace

void AppendFile::Fail(const char* action, int error) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw std::runtime_error(path_ + ": " + action + ": " + std::generic_category().message(error) +
                           (full ? "; make room, then continue with --resume" : ""));
}

AppendFile::AppendFile(std::string path, int64_t keep, const WholeEntries& whole, const Warning& warning)
    : path_(std::move(path)), fd_(open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
  if (fd_ < 0) Fail("cannot open", errno);
  struct stat about {};
  if (fstat(fd_, &about) != 0) Fail("cannot read its size", errno);
  bytes_ = std::min(keep, static_cast<int64_t>(about.st_size));
  if (keep > 0) {
    const MappedFile file(path_);
    bytes_ = static_cast<int64_t>(whole(file.Bytes().substr(0, static_cast<size_t>(bytes_))));
  }
  if (bytes_ < keep && warning) {
    warning(path_ + ": has lost " + std::to_string(keep - bytes_) + " of its first " + std::to_string(keep) +
            " bytes since the checkpoint was saved; what follows is appended to what is left of it");
  }
  if (ftruncate(fd_, bytes_) != 0 || lseek(fd_, 0, SEEK_END) < 0) Fail("cannot truncate", errno);
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) close(fd_);
}

void AppendFile::Append(const std::string& bytes) {
  const char* at = bytes.data();
  for (size_t left = bytes.size(); left > 0;) {
    const ssize_t written = write(fd_, at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail("cannot write", errno);
    at += written;
    left -= static_cast<size_t>(written);
    bytes_ += written;
  }
}

Metrics::Metrics(const std::string& run, int64_t metrics_bytes, int64_t events_bytes, const RunConfig& config,
                 const AppendFile::Warning& warning)
    : lines_(run_files::In(run, run_files::kMetrics), metrics_bytes, &WholeLines, warning),
      events_(run_files::In(run, run_files::kEvents), events_bytes, &WholeRecords, warning) {
  if (events_.Bytes() > 0) return;
  const double now = WallTime();
  events_.Append(EventsHead(now) + TextEvent(now, "configuration", "```toml\n" + ConfigToml(config) + "```\n") +
                 RunBeganEvent(now, HyperparametersOf(config)));
}

void Metrics::Write(int64_t step, const Values& values) {
  const double now = WallTime();
  nlohmann::ordered_json line = {{"step", step}, {"wall_time", ToMilliseconds(now)}};
  for (const auto& [name, value] : values) line[name] = value;  // NaN becomes null, since JSON has no NaN
  lines_.Append(line.dump() + "\n");
  events_.Append(ScalarsEvent(now, step, values));
}

void Metrics::Finish() { events_.Append(RunEndedEvent(WallTime())); }

}  // namespace tra
