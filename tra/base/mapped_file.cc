#include "tra/base/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tra/base/system_error.h"

namespace tra {

MappedFile::MappedFile(const std::string& path) : MappedFile(InputFile(path)) {}

MappedFile::MappedFile(const InputFile& file) {
  if (file.Size() == 0) return;  // an empty range cannot be mapped
  void* mapped = mmap(nullptr, file.Size(), PROT_READ, MAP_SHARED, file.Descriptor(), 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    const char* remedy = error == ENOMEM ? "; there is not enough memory for it" : "";
    throw SystemError(file.Path() + ": cannot map: " + std::generic_category().message(error) + remedy, error);
  }
  data_ = static_cast<const char*>(mapped);
  size_ = file.Size();
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
