#include "tra/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
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
                       : error == ENOMEM                   ? "; there is not enough memory for it"
                                                           : "";
  throw SystemError(path + ": " + action + ": " + std::generic_category().message(error) + remedy, error);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) Fail(path, "cannot open", errno);
  struct stat about {};
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(fd);
    throw std::runtime_error(path + ": is not a regular file; name a file");
  }
  size_ = static_cast<size_t>(about.st_size);
  if (size_ > 0) {  // an empty range cannot be mapped
    void* mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
    const int error = errno;
    close(fd);
    if (mapped == MAP_FAILED) Fail(path, "cannot map", error);
    data_ = static_cast<const char*>(mapped);
  } else {
    close(fd);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace tra
