// Gives bytes a path, for what reads files only.
#ifndef FUZZ_MEMORY_FILE_H_
#define FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "fuzz/harnesses.h"

namespace tra::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    Require(written == static_cast<ssize_t>(bytes.size()), "no file can be made in memory");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string Path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace tra::fuzz

#endif  // FUZZ_MEMORY_FILE_H_
