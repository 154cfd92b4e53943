#include "tra/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace tra {

FileLock::FileLock(const std::string& path, Wait wait) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (fd_ < 0) {
    error_ = errno;
    return;
  }
  int result = -1;
  do {
    result = flock(fd_, wait == Wait::kNo ? LOCK_EX | LOCK_NB : LOCK_EX);
  } while (result != 0 && errno == EINTR);
  held_by_another_ = result != 0 && errno == EWOULDBLOCK;
  if (result != 0 && !held_by_another_) error_ = errno;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tra
