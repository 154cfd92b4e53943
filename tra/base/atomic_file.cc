#include "tra/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tra {
namespace {

const char* Remedy(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "; create its directory first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; write to a directory that you may change";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "; make room or write to another disk";
    default:
      return "";
  }
}

// Returns whether a name is that of a temporary file, and of which process.
bool IsTemporary(const std::string& name, pid_t& writer) {
  unsigned count = 0;
  int length = 0;
  const int found = std::sscanf(name.c_str(), ".tra-%d-%u.tmp%n", &writer, &count, &length);
  return found == 2 && static_cast<size_t>(length) == name.size() && writer > 0;
}

bool IsAlive(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

// Removes leftovers the first time that this process writes to a directory.
void RemoveLeftoversOnce(const std::string& directory) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    if (!seen.insert(directory).second) return;
  }
  RemoveLeftovers(directory);
}

}  // namespace

void RemoveLeftovers(const std::string& directory) {
  std::error_code unreadable;  // then there is nothing to tidy up
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(directory, unreadable); !unreadable && at != end;
       at.increment(unreadable)) {
    pid_t writer = 0;
    if (!IsTemporary(at->path().filename().string(), writer) || IsAlive(writer)) continue;
    const int fd = open(at->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    // The writer may live on another machine or in another container, where process ids mean something else.
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(at->path().c_str());
    close(fd);
  }
}

void AtomicFile::Fail(const char* action, int error) const {
  throw std::runtime_error(path_ + ": " + action + ": " + std::generic_category().message(error) + Remedy(error));
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  // A rename would replace a device by a regular file.
  struct stat existing {};
  if (stat(path_.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    throw std::runtime_error(path_ + ": exists and is not a regular file; write to another name");
  }
  directory_ = std::filesystem::path(path_).parent_path().string();
  if (directory_.empty()) directory_ = ".";
  // mkstemp would make a file that only its owner can read, and a rename would keep it so. The temporary name does not
  // contain the target's, which may be as long as the file system allows. A name in use belongs to a writer that was
  // killed, or to another machine that shares the disk; then the next one is tried.
  static std::atomic<unsigned> count{0};
  RemoveLeftoversOnce(directory_);
  struct stat created {};
  do {
    if (fd_ >= 0) close(fd_);
    do {
      temporary_ = directory_ + "/.tra-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".tmp";
      fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd_ < 0 && (errno == EEXIST || errno == EINTR));
    if (fd_ < 0) Fail("cannot create a file beside it", errno);
    flock(fd_, LOCK_EX | LOCK_NB);  // not every file system has locks; then leftovers stay
    // Without a name it was taken for a leftover before it was locked.
  } while (fstat(fd_, &created) == 0 && created.st_nlink == 0);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::Write(const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(fd_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail("cannot write", errno);
    at += written;
    size -= static_cast<size_t>(written);
  }
}

void AtomicFile::Rewrite(size_t offset, const void* bytes, size_t size) {
  if (lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) Fail("cannot write", errno);
  Write(bytes, size);
  if (lseek(fd_, 0, SEEK_END) < 0) Fail("cannot write", errno);
}

void AtomicFile::Commit() {
  // Without this the name may reach the disk before the bytes do.
  if (fsync(fd_) != 0) Fail("cannot write to the disk", errno);
  if (close(std::exchange(fd_, -1)) != 0) Fail("cannot write to the disk", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) Fail("cannot rename the finished file", errno);
  temporary_.clear();
  // Best effort: the file is complete either way, and not every file system supports this.
  const int directory = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

}  // namespace tra
