#include "tra/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tra/base/system_error.h"

namespace tra {
namespace {

[[noreturn]] void Fail(const std::string& path, const char* action, int error) {
  const char* remedy = error == ENOENT || error == ENOTDIR ? "; check the path"
                       : error == EACCES                   ? "; ask for the right to read it"
                                                           : "";
  throw SystemError(path + ": " + action + ": " + std::generic_category().message(error) + remedy, error);
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Without O_NONBLOCK, opening a pipe waits until somebody writes to it. It has no effect on regular files.
  do {
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) Fail(path_, "cannot open", errno);
  struct stat about {};
  if (fstat(fd_, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(fd_);
    throw std::runtime_error(path_ + ": is not a regular file; name a file");
  }
  size_ = static_cast<uint64_t>(about.st_size);
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(std::exchange(other.size_, 0)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

void InputFile::ReadAt(uint64_t offset, void* to, size_t size) const {
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = pread(fd_, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail(path_, "cannot read", errno);
    if (got == 0) throw std::runtime_error(path_ + ": became shorter while it was read; read it again");
    at += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
}

std::string ReadFile(const std::string& path, uint64_t most) {
  const InputFile file(path);
  if (file.Size() > most) {
    throw std::runtime_error(path + ": has " + std::to_string(file.Size()) + " bytes, more than the " +
                             std::to_string(most) + " that such a file may have; check the path");
  }
  std::string bytes(file.Size(), '\0');
  file.ReadAt(0, bytes.data(), bytes.size());
  return bytes;
}

std::optional<std::string> ReadFileIfAny(const std::string& path, uint64_t most) {
  try {
    return ReadFile(path, most);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

}  // namespace tra
